// SPDX-License-Identifier: MIT
//
// Values of probes or energies as a table. Columns: the frames of a short run, else the present, smallest and largest value; of two
// runs the present values and their difference.
import type { Run } from './data';
import { make } from './dom';
import { pretty, quantity, settled } from './format';
import type { Card, Curve } from './plots';

const FRAMES = 6; // columns of frames at most

const read = (c: Curve, k: number) => c.from.value[k * c.from.width + c.column];

export class Values {
    readonly element: HTMLElement;
    private readonly live: ((k: number, other: number) => void)[] = []; // updates of cells
    private heads: HTMLElement[] = [];
    private frames: number[] = []; // of the columns

    // `names`: of both runs, if the cards have curves of another one
    constructor(cards: Card[], run: Run, names: string[] | null, seek: (k: number) => void) {
        const all: number[] = [];
        for (let k = 0; k < run.n; k++) if (!(run.mode(k) > 0)) all.push(k);
        const titles = names ? [...names, 'difference'] : all.length <= FRAMES ? this.nameFrames(run, all) : ['now', 'smallest', 'largest'];
        if (!names && all.length <= FRAMES) this.frames = all;
        this.heads = titles.map((title, i) => {
            const k = this.frames[i];
            return make('th', { scope: 'col' }, k !== undefined && all.length > 1 ? make('button', { type: 'button', title: `go to ${title}`, onclick: () => seek(k) }, title) : title);
        });
        this.element = make('section', { class: 'card scroll', tabindex: '0', role: 'region', 'aria-label': 'values' }, make('table', { class: 'values' },
            make('thead', {}, make('tr', {}, make('td', {}), ...this.heads)),
            ...cards.map((card) => make('tbody', {},
                make('tr', { class: 'of' }, make('th', { scope: 'rowgroup', colspan: titles.length + 1 }, card.title, make('span', { class: 'unit' }, pretty(card.unit)))),
                // not the frequencies that the robot does not have
                ...card.curves.filter((c) => all.some((k) => Number.isFinite(read(c, k)))).map((c) => make('tr', {}, make('th', { scope: 'row' }, c.name), ...this.cells(card, c, all, names !== null)))))));
    }

    // the stage of each frame, and its time where a stage has several
    private nameFrames(run: Run, frames: number[]): string[] {
        const name = (k: number) => run.head.stages[run.stage[k]]?.name ?? `frame ${k + 1}`;
        return frames.map((k) => (frames.some((o) => o !== k && name(o) === name(k)) ? `${name(k)}, ${quantity(run.t[k], 's')}` : name(k)));
    }

    private cells(card: Card, c: Curve, all: number[], two: boolean): HTMLElement[] {
        let size = 0; // largest value of the card, which decides what is zero
        for (const k of all) for (const o of card.curves) size = Math.max(size, Math.abs(read(o, k)) || 0);
        const text = (x: number) => quantity(settled(x, size, card.unit), card.unit, two ? 4 : 5);
        const cell = (value: (k: number, other: number) => number) => {
            const td = make('td');
            this.live.push((k, other) => (td.textContent = text(value(k, other))));
            return td;
        };
        if (two) {
            const beside = (_: number, other: number) => (c.other && other >= 0 ? read(c.other, other) : NaN);
            return [cell((k) => read(c, k)), cell(beside), cell((k, other) => beside(k, other) - read(c, k))];
        }
        if (this.frames.length) return this.frames.map((k) => make('td', {}, text(read(c, k))));
        let low = Infinity, high = -Infinity;
        for (const k of all) {
            low = Math.min(low, (c.from.low ?? c.from.value)[k * c.from.width + c.column]);
            high = Math.max(high, (c.from.high ?? c.from.value)[k * c.from.width + c.column]);
        }
        return [cell((k) => read(c, k)), make('td', {}, text(low)), make('td', {}, text(high))];
    }

    // frame k, and that of the other run
    mark(k: number, other: number): void {
        for (const update of this.live) update(k, other);
        this.heads.forEach((h, i) => h.classList.toggle('now', this.frames.length > 1 && this.frames[i] === k));
    }
}
