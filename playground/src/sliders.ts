// SPDX-License-Identifier: MIT
//
// Sliders for the parameters of a model: a slider that is moved changes the number in the text. Those of actuators replace a law
// for the next run, until they are given back.
import { make } from '../../viewer/src/dom';
import { number } from '../../viewer/src/format';
import type { Parameter } from './parameters';

export class Sliders {
    readonly ranges = new Map<string, [number, number]>(); // of the sliders shown
    private list: Parameter[] = [];
    private rows = new Map<string, { input: HTMLInputElement; output: HTMLElement; row: HTMLElement }>();

    // moved: the number as text, '' for a law that applies again
    constructor(private readonly box: HTMLElement, private readonly moved: (p: Parameter, text: string) => void) {}

    // Another model: ranges are chosen anew.
    forget(): void {
        this.ranges.clear();
    }

    show(list: Parameter[]): void {
        const same = list.length === this.list.length && list.every((p, i) => p.name === this.list[i].name && p.low === this.list[i].low && p.high === this.list[i].high);
        this.list = list;
        if (!same) this.build();
        for (const p of list) {
            const row = this.rows.get(p.name)!;
            const at = Number.isNaN(p.value) ? Math.min(Math.max(0, p.low), p.high) : p.value;
            if (Number(row.input.value) !== at) row.input.value = String(at);
            row.input.style.setProperty('--at', `${(100 * (at - p.low)) / (p.high - p.low)}%`);
            row.output.textContent = Number.isNaN(p.value) ? 'its law' : `${number(p.value, 4)} ${p.unit}`;
            row.row.classList.toggle('turned', p.path !== undefined && !Number.isNaN(p.value));
        }
    }

    private build(): void {
        this.rows.clear();
        this.ranges.clear();
        for (const p of this.list) {
            this.ranges.set(p.name, [p.low, p.high]);
            const input = make('input', { type: 'range', min: p.low, max: p.high, step: 'any', value: p.value, 'aria-label': p.name, oninput: () => this.turn(p.name) });
            const output = make('output');
            const back = p.path === undefined ? null : make('button', { type: 'button', class: 'plain', title: 'give it back to its law', 'aria-label': `${p.name}: its law`, onclick: () => this.moved(this.list.find((q) => q.name === p.name)!, '') }, '×');
            const row = make('div', { class: `knob${back ? ' law' : ''}` }, make('span', { class: 'what' }, p.name), output, input, back);
            this.rows.set(p.name, { input, output, row });
        }
        this.box.replaceChildren(...Array.from(this.rows.values(), (r) => r.row));
        this.box.classList.toggle('hidden', this.list.length === 0);
    }

    private turn(name: string): void {
        const p = this.list.find((q) => q.name === name)!, wanted = Number(this.rows.get(name)!.input.value);
        // a thousandth of the range is fine enough to read
        const digits = Math.max(0, Math.ceil(-Math.log10((p.high - p.low) / 1000)));
        const text = digits > 8 ? wanted.toExponential(3) : wanted.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
        if (Number(text) !== p.value) this.moved(p, text);
    }
}
