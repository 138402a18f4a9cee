// SPDX-License-Identifier: MIT
//
// Panel beside the robot: probes as curves or as a table, energies, stages, solver, the model.
import type { Theme } from './colour';
import type { Page, Run } from './data';
import { make } from './dom';
import { count, number } from './format';
import { Axis, energyCard, pair, Plot, probeCards, same, solverCards, type Card } from './plots';
import type { Scene } from './scene';
import { Values } from './values';

const CARDS = 16; // shown until more are requested
const FEW = 6; // a run of at most this many frames has a table instead of curves

export class Panel {
    plots: Plot[] = [];
    private tables: Values[] = [];
    private strangers: { plots: Plot[]; tables: Values[] } = { plots: [], tables: [] }; // of probes that only the other run has
    private rows: HTMLElement[] = [];
    private run!: Run;
    private as: 'curves' | 'table' | null = null; // chosen by the user

    // `seek`: show this frame; `changed`: curves were added, which need the present frame
    constructor(private readonly element: HTMLElement, public page: Page, private readonly theme: () => Theme, private readonly seek: (k: number) => void, private readonly changed: () => void) {}

    // frames that are no mode shapes
    private get computed(): number {
        let n = 0;
        for (let k = 0; k < this.run.n; k++) n += this.run.mode(k) > 0 ? 0 : 1;
        return n;
    }

    // `before`: cards above; `other`: a run to compare with
    show(run: Run, scene: Scene, before: HTMLElement[], other: { run: Run; scene: Scene } | null = null): void {
        this.run = run;
        this.clear();
        const axis = new Axis(run), beside = other && new Axis(other.run).time === axis.time ? other.run : null;
        const plot = (c: Card) => {
            const p = new Plot(c, run, axis, this.seek, beside);
            this.plots.push(p);
            return p.element;
        };
        const values = (cards: Card[]) => {
            const t = new Values(cards, run, other && [run.head.label, other.run.head.label], this.seek);
            this.tables.push(t);
            return t.element;
        };
        const still = this.computed <= FEW, table = this.as ? this.as === 'table' : still;
        const probes = probeCards(run, scene, table), energy = energyCard(run);
        const foreign = other ? probeCards(other.run, other.scene, table) : [];
        if (other) pair(probes, probeCards(other.run, other.scene, true));
        const energies = other && energyCard(other.run);
        if (energy && energies) pair([energy], [energies]);
        const choice = make('div', { class: 'group small', role: 'group', 'aria-label': 'form of the values' }, ...(['curves', 'table'] as const).map((form) => make('button', {
            type: 'button', 'aria-pressed': String(table === (form === 'table')), onclick: () => {
                this.as = form;
                this.show(run, scene, before, other);
                this.changed();
            },
        }, form)));
        const heading = (name: string) => make('div', { class: 'heading' }, make('h2', {}, name), choice);
        const rest = probes.slice(CARDS);
        const more = make('button', { class: 'more', type: 'button', onclick: () => {
            const first = this.plots.length;
            more.replaceWith(...rest.map(plot));
            this.plots.slice(first).forEach((p) => p.draw(this.theme()));
            this.changed();
        } }, `${rest.length} more`);
        const parts = table
            ? [...(probes.length ? [heading('Probes'), values(probes)] : []), ...(energy ? [probes.length ? make('h2', {}, 'Energy') : heading('Energy'), values([energy])] : [])]
            : [...(probes.length ? [heading('Probes'), ...probes.slice(0, CARDS).map(plot), rest.length ? more : ''] : []), ...(energy ? [probes.length ? make('h2', {}, 'Energy') : heading('Energy'), plot(energy)] : [])];
        this.element.replaceChildren(...before, ...parts, ...(other ? this.only(other.run, foreign.filter((c) => !probes.some((p) => same(p, c))), run, table) : []),
            make('h2', {}, 'Stages'), this.stageTable(),
            ...(still ? [] : [make('h2', {}, 'Solver'), ...solverCards(run).map(plot)]),
            make('h2', {}, 'About'), this.about());
        this.draw();
    }

    // Probes that only the other run has, at its own frames.
    private only(other: Run, cards: Card[], run: Run, table: boolean): HTMLElement[] {
        if (!cards.length) return [];
        const axis = new Axis(other), own = new Axis(run);
        const seek = (k: number) => this.seek(own.time && axis.time ? own.nearest(other.t[k]) : Math.min(k, run.n - 1));
        if (table) this.strangers.tables = [new Values(cards, other, null, seek)];
        else this.strangers.plots = cards.slice(0, CARDS).map((c) => new Plot(c, other, axis, seek));
        return [make('h2', {}, `Probes of ${other.head.label} only`), ...[...this.strangers.plots, ...this.strangers.tables].map((x) => x.element)];
    }

    private get allPlots(): Plot[] {
        return [...this.plots, ...this.strangers.plots];
    }

    clear(): void {
        for (const p of this.allPlots) p.destroy();
        this.plots = [];
        this.tables = [];
        this.strangers = { plots: [], tables: [] };
        this.element.replaceChildren();
    }

    draw(): void {
        for (const p of this.allPlots) p.draw(this.theme());
    }

    resize(): void {
        for (const p of this.allPlots) p.resize();
    }

    // frame k, or between k and k + 1; `other`: frame of the run beside, -1: none
    mark(k: number, share: number, other: number): void {
        for (const p of this.plots) p.mark(k, share, other);
        for (const t of this.tables) t.mark(k, other);
        if (other >= 0) for (const x of [...this.strangers.plots, ...this.strangers.tables]) x.mark(other, 0);
        this.rows.forEach((r, i) => r.classList.toggle('now', i === this.run.stage[k]));
    }

    private stageTable(): HTMLElement {
        const cell = (text: string) => make('td', {}, text);
        this.rows = this.run.head.stages.map((s, i) => make('tr', {},
            make('td', {}, make('button', { type: 'button', title: `go to ${s.name}`, onclick: () => this.toStage(i) }, s.name)),
            cell(count(s.frames)), cell(s.frames ? (s.last > s.first ? `${number(s.first)} – ${number(s.last)} s` : `${number(s.first)} s`) : ''),
            cell(count(s.increments)), cell(count(s.iterations)), cell(number(s.residual ?? NaN, 2)), cell(s.condition ? number(s.condition, 2) : ''), cell(number(s.geometry ?? NaN, 2))));
        return make('section', { class: 'card scroll' }, make('table', {},
            make('thead', {}, make('tr', {}, ...['stage', 'frames', 'time', 'increments', 'iterations', 'residual', 'condition', 'geometry'].map((h) => make('th', { scope: 'col' }, h)))),
            make('tbody', {}, ...this.rows)));
    }

    private toStage(stage: number): void {
        const k = this.run.stage.findIndex((s) => s === stage);
        if (k >= 0) this.seek(k);
    }

    private about(): HTMLElement {
        const { head } = this.run, file = this.page.files[head.file];
        const line = (name: string, value: string) => [make('dt', {}, name), make('dd', {}, value)];
        return make('section', { class: 'card' },
            make('dl', {}, ...line('file', file.name), ...line('run', head.name), ...line('state', head.state), ...(head.message ? line('reason', head.message) : []), ...line('degrees of freedom', count(head.freedom)), ...line('nodes', count(head.nodes)),
                ...line('frames', head.kept < head.frames ? `${count(head.kept)} of ${count(head.frames)} in this page` : count(head.frames)), ...line('written', `sinew ${file.version}, ${file.created}`)),
            make('details', { class: 'text' }, make('summary', {}, 'the model'), make('pre', { tabindex: '0' }, file.model)));
    }
}
