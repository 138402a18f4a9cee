// SPDX-License-Identifier: MIT
//
// Curves over time, one card for each unit, all with the same playhead.
import uPlot from 'uplot';
import { series as palette, type Theme } from './colour';
import { columnName, type Run, type Series } from './data';
import { make } from './dom';
import { pretty, quantity, settled, tick } from './format';
import { readMeasured } from './measured';
import type { Scene } from './scene';

export interface Curve {
    name: string;
    from: Series;
    column: number;
    other?: Curve; // the same quantity of another run
    dots?: [t: number[], value: number[]]; // measured
}

export interface Card {
    title: string;
    unit: string;
    curves: Curve[];
    log?: boolean;
}

// columns hidden by default: quaternion and matrix of a rotation, frequencies after the sixth
function brief(component: string): boolean {
    if (/^[1-9]/.test(component)) return component.length === 1 && component <= '6';
    return !/^(q[wxyz]|[xyz][xyz])$/.test(component);
}

// at most n elements of a list, evenly spread
function few<T>(list: T[], n: number): T[] {
    if (list.length <= n) return list;
    return Array.from({ length: n }, (_, i) => list[Math.round((i * (list.length - 1)) / (n - 1))]);
}

// `all`: no curve of many is left out
export function probeCards(run: Run, scene: Scene, all = false): Card[] {
    const cards = new Map<string, Card>();
    const kinds = new Map(scene.probes.map((p) => [p.name, p]));
    run.head.columns.forEach((c, i) => {
        const probe = kinds.get(c.probe);
        if (!brief(c.component)) return;
        if (probe?.kind === 'energy') return; // shown in a separate card
        const unit = probe && Object.prototype.hasOwnProperty.call(probe.units, c.component) ? String(probe.units[c.component]) : '';
        // several stations: one card for each component; else one card for each unit
        const key = `${c.probe}\u0000${unit}\u0000${c.station >= 0 ? c.component : ''}`;
        let card = cards.get(key);
        if (!card) {
            card = { title: c.station >= 0 && c.component ? `${c.probe} · ${c.component}` : c.probe, unit, curves: [] };
            cards.set(key, card);
        }
        card.curves.push({ name: c.station >= 0 ? `@${c.station}` : c.component || columnName(c), from: run.columns, column: i });
    });
    const measured = readMeasured(run);
    for (const card of cards.values()) for (const c of card.curves) c.dots = measured.dots(c.column);
    if (!all) for (const card of cards.values()) card.curves = few(card.curves, 8);
    return [...cards.values()];
}

export function energyCard(run: Run): Card | null {
    const curves = run.head.energy
        .map((name, column) => ({ name, from: run.energy, column }))
        .filter((c) => {
            for (let k = 0; k < run.n; k++) if (Math.abs(run.energy.value[k * run.energy.width + c.column]) > 0) return true;
            return false;
        });
    return curves.length ? { title: 'energy', unit: 'J', curves } : null;
}

// Do the cards of two runs show the same quantity?
export function same(a: Card, b: Card): boolean {
    return a.title === b.title && a.unit === b.unit;
}

// Give each curve the equally named one of another run.
export function pair(cards: Card[], others: Card[]): void {
    for (const card of cards) {
        const other = others.find((o) => same(o, card));
        for (const c of card.curves) c.other = other?.curves.find((o) => o.name === c.name);
    }
}

export function solverCards(run: Run): Card[] {
    const from: Series = { width: run.head.stats.length, value: run.stats, low: null, high: null };
    const card = (name: string, title: string, log: boolean): Card => ({ title, unit: '', log, curves: [{ name, from, column: run.head.stats.indexOf(name) }] });
    return [card('residual', 'residual at the frame', true), card('iterations', 'iterations to reach the frame', false)].filter((c) => c.curves[0].column >= 0);
}

// Abscissa of the curves: time if it increases, else the number of the frame.
export class Axis {
    readonly time: boolean;

    // `live`: time will increase, even if there is one frame now
    constructor(private readonly run: Run, live = false) {
        let rising = live || run.n > 1 && run.t[run.n - 1] > run.t[0];
        for (let k = 1; k < run.n; k++) rising = rising && run.t[k] >= run.t[k - 1];
        this.time = rising;
    }

    at(k: number): number {
        return this.time ? this.run.t[k] : this.run.frame[k];
    }

    nearest(x: number): number {
        let low = 0, high = this.run.n - 1;
        while (high - low > 1) {
            const mid = (low + high) >> 1;
            if (this.at(mid) <= x) low = mid;
            else high = mid;
        }
        return this.run.n > 1 && Math.abs(this.at(high) - x) < Math.abs(this.at(low) - x) ? high : low;
    }
}

// margin around the curves; constant values, and zero up to rounding, lie in the middle
const nothing = 1e-15;
function range(_: uPlot, low: number | null, high: number | null): [number, number] {
    if (low === null || high === null) return [0, 1];
    if (Math.max(Math.abs(low), Math.abs(high)) < nothing) return [-1, 1];
    const air = high > low ? 0.08 * (high - low) : Math.abs(high) > 0 ? 0.1 * Math.abs(high) : 1;
    return [low - air, high + air];
}

export class Plot {
    readonly element: HTMLElement;
    private u: uPlot | null = null;
    private readonly values: HTMLElement[] = [];
    private readonly seconds: HTMLElement[] = []; // values of the other run
    private readonly head = make('i', { class: 'playhead', 'aria-hidden': 'true' });
    private readonly body = make('div', { class: 'chart' });
    private at = { k: 0, share: 0 };
    private made: uPlot.AlignedData | null = null;
    private theme: Theme | null = null; // theme for drawing when the card becomes visible

    private readonly size: number; // largest value, which decides what is zero
    private otherAt = -1; // frame of the other run

    // `beside`: the run of the other curves
    constructor(readonly card: Card, private readonly run: Run, private readonly axis: Axis, private readonly seek: (k: number) => void, private readonly beside: Run | null = null) {
        const chips = card.curves.map((c, i) => {
            const value = make('output', {}, ''), second = make('output', { class: 'beside' }, '');
            this.values.push(value);
            this.seconds.push(second);
            return make('button', { class: 'chip', type: 'button', 'aria-pressed': 'true', title: 'show or hide this curve', onclick: (e) => this.toggle(i, e.currentTarget as HTMLElement) }, make('i', { class: 'dot' }), make('span', {}, c.name), value, beside ? second : null);
        });
        this.element = make('section', { class: 'card', 'aria-label': `${card.title} over ${axis.time ? 'time' : 'frames'}` },
            make('header', {}, make('h3', {}, card.title), make('span', { class: 'unit' }, pretty(card.unit))),
            this.body,
            make('div', { class: 'chips' }, ...chips));
        let size = 0;
        for (const c of card.curves) for (let k = 0; k < run.n; k++) size = Math.max(size, Math.abs(c.from.value[k * c.from.width + c.column]) || 0);
        this.size = size;
    }

    // kept frames, and between them the extremes of the omitted ones; of both runs at the instants of either
    private points(): uPlot.AlignedData {
        const { run, axis, card, beside } = this, tables = [this.curvesOf(run, axis, card.curves)];
        const others = card.curves.map((c) => c.other).filter((c): c is Curve => c !== undefined);
        if (beside && others.length) tables.push(this.curvesOf(beside, new Axis(beside), others));
        for (const c of this.dotted) tables.push(c.dots!);
        return tables.length > 1 ? uPlot.join(tables) : tables[0];
    }

    // curves with measured values, which need time as abscissa
    private get dotted(): Curve[] {
        return this.axis.time ? this.card.curves.filter((c) => c.dots) : [];
    }

    private curvesOf(run: Run, axis: Axis, curves: Curve[]): uPlot.AlignedData {
        const x: number[] = [], y: (number | null)[][] = curves.map(() => []);
        // scaled by powers of ten here: the search for ticks in uPlot does not end for very small numbers
        const shown = (v: number) => (this.card.log ? (v > 0 && Number.isFinite(v) ? Math.log10(v) : null) : Number.isFinite(v) ? v : null);
        for (let k = 0; k < run.n; k++) {
            if (run.mode(k) > 0) continue;
            const at = axis.at(k), step = k + 1 < run.n ? axis.at(k + 1) - at : 0;
            x.push(at);
            curves.forEach((c, i) => y[i].push(shown(c.from.value[k * c.from.width + c.column])));
            const thinned = run.frame[k + 1] - run.frame[k] > 1 && curves.some((c) => c.from.low);
            if (!thinned || !(step > 0)) continue;
            x.push(at + step / 3, at + (2 * step) / 3);
            curves.forEach((c, i) => {
                const j = k * c.from.width + c.column;
                const low = c.from.low ? c.from.low[j] : c.from.value[j], high = c.from.high ? c.from.high[j] : c.from.value[j];
                const rises = c.from.value[j + c.from.width] >= c.from.value[j];
                y[i].push(shown(rises ? low : high), shown(rises ? high : low));
            });
        }
        return [x, ...y] as uPlot.AlignedData;
    }

    private get data(): uPlot.AlignedData {
        return (this.made ??= this.points());
    }

    get length(): number {
        return this.data[0].length;
    }

    private toggle(i: number, chip: HTMLElement): void {
        const on = chip.getAttribute('aria-pressed') !== 'true';
        chip.setAttribute('aria-pressed', String(on));
        this.showCurve(i, on);
    }

    // a curve, and that of the other run
    private showCurve(i: number, on: boolean): void {
        const { curves } = this.card;
        this.u?.setSeries(i + 1, { show: on });
        const others = this.beside ? curves.filter((c) => c.other) : [], from = 1 + curves.length;
        if (others.includes(curves[i])) this.u?.setSeries(from + others.indexOf(curves[i]), { show: on });
        if (this.dotted.includes(curves[i])) this.u?.setSeries(from + others.length + this.dotted.indexOf(curves[i]), { show: on });
    }

    // Draw when it becomes visible: a page may have many curves.
    draw(theme: Theme): void {
        const waits = this.theme !== null && !this.u;
        this.theme = theme;
        if (this.u) this.redraw(theme);
        if (this.u || waits) return;
        new IntersectionObserver((seen, watch) => {
            if (!this.theme || !seen.some((s) => s.isIntersecting)) return;
            watch.disconnect();
            this.redraw(this.theme);
        }, { rootMargin: '300px' }).observe(this.element);
    }

    private redraw(theme: Theme): void {
        this.u?.destroy();
        const style = getComputedStyle(this.element);
        const ink = style.getPropertyValue('--faint').trim(), line = style.getPropertyValue('--line').trim();
        const colours = palette(theme);
        const font = '11px ui-sans-serif, system-ui, sans-serif';
        const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
        this.element.querySelectorAll<HTMLElement>('.dot').forEach((d, i) => (d.style.background = colours[i % colours.length]));
        const ticks = (_: uPlot, splits: number[]) => splits.map(tick);
        const powers = (_: uPlot, splits: number[]) => splits.map((v) => (Number.isInteger(v) ? `1e${v}`.replace('-', '−') : ''));
        const curve = (i: number) => ({ stroke: colours[i % colours.length], width: 1.5, pxAlign: 0, spanGaps: true, points: { show: this.length < 3 } });
        const dots = (i: number) => ({ stroke: colours[i % colours.length], paths: () => null, points: { show: true, size: 4, fill: colours[i % colours.length] } });
        const options: uPlot.Options = {
            width: Math.max(this.body.clientWidth, 120),
            height: 132,
            padding: [8, 10, 0, 0],
            legend: { show: false },
            cursor: { sync: { key: 'sinew' }, drag: { x: false, y: false }, points: { size: 6 }, y: false },
            scales: { x: { time: false }, y: { range } },
            axes: [
                { ...axis, size: 24, space: 64, values: ticks },
                { ...axis, size: 52, space: 26, values: this.card.log ? powers : ticks },
            ],
            hooks: { draw: [() => this.place()] },
            series: [{}, ...this.card.curves.map((_, i) => curve(i)), ...this.card.curves.flatMap((c, i) => (this.beside && c.other ? [{ ...curve(i), dash: [5, 4] }] : [])), ...this.dotted.map((c) => dots(this.card.curves.indexOf(c)))],
        };
        this.u = new uPlot(options, this.data, this.body);
        this.u.over.append(this.head);
        this.u.over.addEventListener('click', () => {
            if (this.u && this.u.cursor.left !== undefined) this.seek(this.axis.nearest(this.u.posToVal(this.u.cursor.left, 'x')));
        });
        this.element.querySelectorAll('.chip').forEach((c, i) => {
            if (c.getAttribute('aria-pressed') === 'false') this.showCurve(i, false);
        });
        this.mark(this.at.k, this.at.share, this.otherAt);
    }

    // The live run has new values.
    refresh(): void {
        this.made = null;
        this.u?.setData(this.data);
    }

    resize(): void {
        const width = this.body.clientWidth;
        if (this.u && width > 0 && Math.abs(width - this.u.width) > 1) this.u.setSize({ width, height: 132 });
    }

    // playhead, and the values of the curves there
    mark(k: number, share: number, other = -1): void {
        this.at = { k, share };
        this.otherAt = other;
        if (this.run.n === 0) return;
        this.card.curves.forEach((c, i) => {
            const put = (to: HTMLElement, from: Curve, at: number) => {
                const text = quantity(settled(from.from.value[at * from.from.width + from.column], this.size, this.card.unit), this.card.unit, 4);
                if (to.textContent !== text) to.textContent = text;
            };
            put(this.values[i], c, k);
            if (c.other && other >= 0) put(this.seconds[i], c.other, other);
        });
        this.place();
    }

    // place the playhead when the scales are set or change
    private place(): void {
        if (!this.u || this.run.n === 0) return;
        const { k, share } = this.at;
        const x = share > 0 ? this.axis.at(k) + share * (this.axis.at(k + 1) - this.axis.at(k)) : this.axis.at(k);
        this.head.style.transform = `translateX(${this.u.valToPos(x, 'x')}px)`;
    }

    destroy(): void {
        this.theme = null;
        this.u?.destroy();
    }
}
