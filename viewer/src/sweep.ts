// SPDX-License-Identifier: MIT
//
// Chart of a sweep: parameters and results as parallel axes, a line for each row. Dragging along an axis chooses the rows within
// that range; a click on a line adds the row, or takes it away. Robots of chosen rows are shown beside each other.
import { series as palette, type Theme } from './colour';
import { make } from './dom';
import { count, number, quantity, shown } from './format';

export interface SweepColumn {
    name: string;
    unit: string;
    about: string;
    varies: boolean; // a parameter; else a result
    words: string[]; // that the values are indices of; none: they are numbers
    value: (number | null)[];
}

// Rows of a sweep: snw_page_sweep of output/page.c.
export interface Sweep {
    title: string;
    method: string;
    rows: number; // of the whole sweep
    states: string[];
    row: number[]; // numbers of the rows of the page
    state: number[];
    run: number[]; // of the page, that shows the robot of a row; -1: none
    columns: SweepColumn[];
}

export const TILES = 8; // robots shown at most: as many as there are colours
const FIRST = 4; // at the beginning
const NEAR = 9; // pixels within which an axis or a line is meant
const ROOM = 88; // least pixels for an axis
const MARGIN = { left: 70, right: 70, top: 40, bottom: 22 };

type Range = [low: number, high: number]; // of places, 0 to 1

// At most n of a list, evenly spread, with the first and the last.
function few<T>(list: T[], n: number): T[] {
    if (list.length <= n) return list;
    return Array.from({ length: n }, (_, i) => list[Math.round((i * (list.length - 1)) / Math.max(n - 1, 1))]);
}

// Places of the values of a column along its axis.
class Axis {
    readonly place: Float32Array; // 0 to 1, NaN: none
    readonly low: number;
    readonly high: number;
    readonly log: boolean;
    range: Range | null = null;

    constructor(readonly column: SweepColumn) {
        const values = column.value.filter((v): v is number => v !== null && Number.isFinite(v));
        const [low, high] = column.words.length ? [0, column.words.length - 1] : [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
        // a parameter as it was spread, a result over some powers of ten
        this.log = column.words.length === 0 && low > 0 && (column.varies ? /^log/.test(column.about) : high > 1e3 * low);
        this.low = Number.isFinite(low) ? low : 0;
        this.high = Number.isFinite(high) ? high : 1;
        const [a, b] = this.log ? [Math.log(low), Math.log(high)] : [this.low, this.high];
        this.place = Float32Array.from(column.value, (v) => (v === null || !Number.isFinite(v) ? NaN : b - a > 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ? ((this.log ? Math.log(v) : v) - a) / (b - a) : 0.5));
    }

    // The value at a place, as text.
    text(share: number): string {
        const { column, low, high } = this;
        if (column.words.length) return column.words[Math.round(low + share * (high - low))] ?? '';
        return quantity(this.log ? low * (high / low) ** share : low + share * (high - low), column.unit, 4);
    }

    // Of a value that is not a number there is no telling whether it is within.
    contains(i: number): boolean {
        return !this.range || (this.place[i] >= this.range[0] && this.place[i] <= this.range[1]);
    }
}

export class SweepChart {
    readonly element: HTMLElement;
    readonly table = make('section', { class: 'card scroll', 'aria-label': 'rows that are shown' });
    private readonly canvas = make('canvas', { tabindex: '0', role: 'img', 'aria-label': 'a line for each row across the axes of parameters and results; drag along an axis to choose rows' });
    private readonly said = make('output', {});
    private readonly clear = make('button', { class: 'toggle', type: 'button', title: 'all rows again', onclick: () => this.reset() }, 'all rows');
    private readonly axes: Axis[];
    private picked: number[] = []; // rows that were clicked; empty: those of the ranges
    private shown: number[] = []; // indices of rows whose robots are shown
    private hovered = -1;
    private drag: { axis: number; from: number; moved: boolean } | null = null;

    // `choose`: show the robots of these runs, the first one with its curves
    constructor(private readonly sweep: Sweep, private readonly theme: () => Theme, private readonly choose: (runs: number[]) => void) {
        this.axes = sweep.columns.map((c) => new Axis(c));
        this.element = make('section', { class: 'sweep', 'aria-label': 'rows of the sweep' }, make('header', {}, this.said, this.clear), make('div', { class: 'axes' }, this.canvas));
        this.canvas.style.minWidth = `${sweep.columns.length * ROOM}px`; // narrow pages scroll along the axes
        const at = (e: PointerEvent): [number, number] => {
            const box = this.canvas.getBoundingClientRect();
            return [e.clientX - box.left, e.clientY - box.top];
        };
        this.canvas.addEventListener('pointerdown', (e) => this.press(...at(e), e.pointerId));
        this.canvas.addEventListener('pointermove', (e) => this.move(...at(e)));
        this.canvas.addEventListener('pointerup', (e) => this.release(...at(e)));
        this.canvas.addEventListener('pointerleave', () => this.hover(-1));
        this.canvas.addEventListener('pointercancel', () => (this.drag = null)); // the page scrolls
        new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    // Show the first robots.
    begin(): void {
        this.update();
    }

    private get size(): { width: number; height: number } {
        return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
    }

    private xOf(axis: number): number {
        const { width } = this.size, n = this.axes.length;
        return n > 1 ? MARGIN.left + (axis * (width - MARGIN.left - MARGIN.right)) / (n - 1) : width / 2;
    }

    private yOf(share: number): number {
        const { height } = this.size;
        return height - MARGIN.bottom - share * (height - MARGIN.top - MARGIN.bottom);
    }

    private shareAt(y: number): number {
        const { height } = this.size;
        return Math.min(Math.max((height - MARGIN.bottom - y) / (height - MARGIN.top - MARGIN.bottom), 0), 1);
    }

    // ---- rows

    private get chosen(): number[] {
        return this.sweep.row.map((_, i) => i).filter((i) => this.axes.every((a) => a.contains(i)));
    }

    private get brushed(): boolean {
        return this.axes.some((a) => a.range !== null);
    }

    private reset(): void {
        for (const a of this.axes) a.range = null;
        this.picked = [];
        this.update();
    }

    // Rows and robots after a change of ranges or picked rows.
    private update(): void {
        const { sweep } = this, robots = this.chosen.filter((i) => sweep.run[i] >= 0);
        const some = this.picked.length ? this.picked : few(robots, this.brushed ? TILES : FIRST);
        this.clear.classList.toggle('hidden', !this.brushed && this.picked.length === 0);
        // without a robot in the range those that were shown stay
        if (some.length && (some.length !== this.shown.length || some.some((i, k) => i !== this.shown[k]))) {
            this.shown = some;
            this.list();
            this.choose(some.map((i) => sweep.run[i]));
        }
        const all = sweep.rows > sweep.row.length ? `${count(sweep.row.length)} of ${count(sweep.rows)} rows` : `${count(sweep.rows)} rows`;
        const bad = sweep.state.filter((s) => sweep.states[s] !== 'done').length, n = sweep.run.filter((r) => r >= 0).length;
        const range = this.brushed ? ` · ${count(this.chosen.length)} chosen, ${robots.length ? `${count(robots.length)} of them with robots` : 'none of them with a robot'}` : '';
        this.said.textContent = `${all}, ${count(n)} with robots${bad ? ` · ${count(bad)} not done` : ''}${range}${this.brushed || this.picked.length ? '' : ' · drag along an axis, or click a line'}`;
        this.draw();
    }

    // Table of the rows that are shown.
    private list(): void {
        const { sweep } = this, colours = palette(this.theme());
        // one unit for the numbers of a column
        const unit = sweep.columns.map((c) => shown(c.unit, Math.max(...this.shown.map((i) => Math.abs(c.value[i] ?? 0)))));
        const cell = (c: SweepColumn, i: number, k: number) => {
            const v = c.value[i];
            return make('td', {}, v === null ? '–' : c.words.length ? (c.words[v] ?? '') : number(v / unit[k].size, 4));
        };
        const dot = (k: number) => {
            const e = make('i', { class: 'dot' });
            e.style.background = colours[k % colours.length];
            return e;
        };
        this.table.replaceChildren(make('table', { class: 'rows' },
            make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'row'), ...sweep.columns.map((c, k) => make('th', { scope: 'col', title: c.about }, unit[k].unit ? `${c.name}, ${unit[k].unit}` : c.name)))),
            make('tbody', {}, ...this.shown.map((i, k) => make('tr', {}, make('td', {}, dot(k), String(sweep.row[i])), ...sweep.columns.map((c, n) => cell(c, i, n)))))));
    }

    // ---- the pointer

    private axisAt(x: number): number {
        return this.axes.findIndex((_, i) => Math.abs(x - this.xOf(i)) < NEAR);
    }

    // Row with a robot whose line is nearest; -1: none is near.
    private rowAt(x: number, y: number): number {
        const k = this.axes.findIndex((_, i) => i + 1 < this.axes.length && x >= this.xOf(i) && x <= this.xOf(i + 1));
        if (k < 0) return -1;
        const share = (x - this.xOf(k)) / (this.xOf(k + 1) - this.xOf(k));
        let best = -1, least = NEAR;
        for (let i = 0; i < this.sweep.row.length; i++) {
            if (this.sweep.run[i] < 0 || !this.axes.every((a) => a.contains(i))) continue;
            const far = Math.abs(y - this.yOf((1 - share) * this.axes[k].place[i] + share * this.axes[k + 1].place[i]));
            if (far < least) [best, least] = [i, far];
        }
        return best;
    }

    private press(x: number, y: number, pointer: number): void {
        const axis = this.axisAt(x);
        if (axis < 0) return;
        this.canvas.setPointerCapture(pointer);
        this.drag = { axis, from: this.shareAt(y), moved: false };
    }

    private move(x: number, y: number): void {
        const { drag } = this;
        if (!drag) {
            this.canvas.style.cursor = this.axisAt(x) >= 0 ? 'ns-resize' : this.rowAt(x, y) >= 0 ? 'pointer' : 'default';
            this.hover(this.axisAt(x) >= 0 ? -1 : this.rowAt(x, y));
            return;
        }
        const to = this.shareAt(y);
        drag.moved ||= Math.abs(this.yOf(to) - this.yOf(drag.from)) > 3;
        if (!drag.moved) return;
        this.axes[drag.axis].range = [Math.min(drag.from, to), Math.max(drag.from, to)];
        this.picked = [];
        this.draw();
    }

    private release(x: number, y: number): void {
        const { drag } = this;
        this.drag = null;
        if (drag) {
            if (!drag.moved) this.axes[drag.axis].range = null;
            this.update();
            return;
        }
        const row = this.rowAt(x, y);
        if (row < 0) return;
        const now = this.picked.length ? this.picked : this.shown, there = now.includes(row);
        const next = there ? now.filter((i) => i !== row) : [...now, row];
        if (next.length) this.picked = next.slice(-TILES);
        this.update();
    }

    private hover(row: number): void {
        if (row === this.hovered) return;
        this.hovered = row;
        this.draw();
    }

    // ---- drawing

    draw(): void {
        const { canvas, sweep, axes } = this, { width, height } = this.size, to = canvas.getContext('2d');
        if (!to || !(width > 0)) return;
        const pixels = Math.min(window.devicePixelRatio || 1, 2);
        canvas.width = Math.round(width * pixels);
        canvas.height = Math.round(height * pixels);
        to.setTransform(pixels, 0, 0, pixels, 0, 0);
        const style = getComputedStyle(canvas), of = (name: string) => style.getPropertyValue(name).trim(), colours = palette(this.theme());
        const [ink, soft, faint, line, accent, warn, panel] = ['--ink', '--soft', '--faint', '--line', '--accent', '--warn', '--panel'].map(of);
        const trace = (i: number, colour: string, thick: number, alpha: number) => {
            to.strokeStyle = colour;
            to.lineWidth = thick;
            to.globalAlpha = alpha;
            to.beginPath();
            let pen = false;
            axes.forEach((a, k) => {
                const p = a.place[i];
                if (Number.isFinite(p)) pen ? to.lineTo(this.xOf(k), this.yOf(p)) : to.moveTo(this.xOf(k), this.yOf(p));
                pen = Number.isFinite(p);
            });
            to.stroke();
        };
        // rows outside of the ranges first; many lines are thinner, so that their density is visible
        const inside = new Set(this.chosen), alpha = Math.min(0.75, Math.max(0.03, 60 / sweep.row.length));
        const bad = (i: number) => sweep.states[sweep.state[i]] !== 'done';
        for (let i = 0; i < sweep.row.length; i++) if (!inside.has(i)) trace(i, line, 1, 0.8);
        for (const i of inside) trace(i, bad(i) ? warn : sweep.run[i] >= 0 ? accent : faint, sweep.run[i] >= 0 ? 1.2 : 1, sweep.run[i] >= 0 ? Math.max(alpha, 0.5) : alpha);
        this.shown.forEach((i, k) => trace(i, colours[k % colours.length], 2.4, 1));
        if (this.hovered >= 0) trace(this.hovered, ink, 2, 1);
        to.globalAlpha = 1;
        this.drawAxes(to, { ink, soft, faint, accent, panel });
        if (this.hovered >= 0) this.drawName(to, `row ${sweep.row[this.hovered]}`, ink, panel);
    }

    private drawAxes(to: CanvasRenderingContext2D, c: Record<'ink' | 'soft' | 'faint' | 'accent' | 'panel', string>): void {
        const room = this.axes.length > 1 ? this.xOf(1) - this.xOf(0) - 8 : this.size.width;
        this.axes.forEach((a, k) => {
            const x = this.xOf(k), text = (what: string, y: number, colour: string, bold = false) => {
                to.font = `${bold ? 620 : 400} ${bold ? 12.5 : 11}px ui-sans-serif, system-ui, sans-serif`;
                to.textAlign = 'center';
                to.fillStyle = colour;
                to.fillText(what, x, y, room);
            };
            to.strokeStyle = c.faint;
            to.lineWidth = 1;
            to.beginPath();
            to.moveTo(x, this.yOf(0));
            to.lineTo(x, this.yOf(1));
            to.stroke();
            if (a.range) {
                const [low, high] = a.range, y = this.yOf(high);
                to.fillStyle = c.accent;
                to.globalAlpha = 0.45;
                to.fillRect(x - 7, y, 14, this.yOf(low) - y);
                to.globalAlpha = 1;
                to.fillRect(x - 7, y - 1, 14, 2);
                to.fillRect(x - 7, this.yOf(low) - 1, 14, 2);
            }
            text(a.column.name, 14, a.column.varies ? c.soft : c.ink, true);
            const words = a.column.words;
            if (words.length) words.forEach((w, i) => text(w, this.yOf(words.length > 1 ? i / (words.length - 1) : 0.5) - 4, c.soft));
            else {
                text(a.text(a.range ? a.range[1] : 1), 31, c.soft);
                text(a.text(a.range ? a.range[0] : 0), this.size.height - 6, c.soft);
            }
        });
    }

    private drawName(to: CanvasRenderingContext2D, name: string, ink: string, panel: string): void {
        const x = this.xOf(0), y = this.yOf(this.axes[0].place[this.hovered]);
        to.font = '620 12px ui-sans-serif, system-ui, sans-serif';
        to.textAlign = 'right';
        const wide = to.measureText(name).width + 8;
        to.fillStyle = panel;
        to.fillRect(x - 8 - wide, y - 9, wide, 17);
        to.fillStyle = ink;
        to.fillText(name, x - 12, y + 4);
    }

    themed(): void {
        this.list();
        this.draw();
    }

    // Colours of the robots that are shown, in their order.
    colours(): string[] {
        const all = palette(this.theme());
        return this.shown.map((_, k) => all[k % all.length]);
    }

    // for tests
    hook() {
        const box = this.canvas.getBoundingClientRect();
        return {
            shown: this.shown.map((i) => this.sweep.row[i]),
            chosen: this.chosen.map((i) => this.sweep.row[i]),
            axes: this.axes.map((a, k) => ({ name: a.column.name, x: box.left + this.xOf(k), low: box.top + this.yOf(0), high: box.top + this.yOf(1) })),
            at: this.sweep.row.map((_, i) => this.axes.map((a) => box.top + this.yOf(a.place[i]))),
        };
    }
}
