// SPDX-License-Identifier: MIT
//
// Contents of the page: one JSON text and arrays in base64. They come from a file of unknown origin, so sizes are checked
// before use, and texts become text nodes only.
import { quantity } from './format';
import type { Sweep } from './sweep';

export interface Column {
    probe: string;
    component: string;
    station: number;
}

export interface Stage {
    name: string;
    frames: number;
    first: number;
    last: number;
    iterations: number;
    tangents: number;
    increments: number;
    residual: number | null;
    condition: number | null;
    geometry: number | null;
}

// Description of a run, recorded or live: snw_page_run of output/page.c.
export interface RunShape {
    nodes: number;
    loads: number;
    loops: number;
    contacts: number;
    measures: number;
    switches: number;
    fields?: number; // points at which fields act; files of earlier versions have none
    node_link: string[];
    columns: Column[];
    energy: string[];
}

export interface RunHead extends RunShape {
    file: number; // number in `files` of the page
    name: string;
    label: string; // name that differs from those of all other runs of the page; set by nameRuns
    title: string;
    state: string;
    message: string;
    frames: number;
    kept: number;
    freedom: number;
    offset: number[];
    overrides?: Override[]; // by which it differs from its file
    stats: string[];
    scene: string | null;
    stages: Stage[];
    measured?: Measured[];
}

// A value of a run in place of that of the file.
export interface Override {
    path: string;
    text: string;
    value: number | null; // null: it is no number
    unit: string;
}

// Measurements from a file: values at times, by the column of a probe they belong to; null: none.
export interface Measured {
    file: string;
    t: (number | null)[];
    columns: { column: number; value: (number | null)[] }[];
}

// A result file.
export interface File {
    name: string;
    version: string;
    created: string;
    model: string;
}

export interface Page {
    files: File[];
    runs: RunHead[];
    sweep?: Sweep; // its rows; the runs are the robots of some of them
}

// Values by which a run differs from the others that were made with it by `each`, "E = 2 MPa"; empty: none.
function sweptValues(run: RunHead, runs: RunHead[]): string {
    const base = (r: RunHead) => r.name.replace(/\.\d+$/, '');
    const family = runs.filter((r) => r.file === run.file && r.name !== base(r) && base(r) === base(run));
    if (run.name === base(run) || family.length < 2) return '';
    const shown = (o?: Override) => (o ? (o.value === null ? o.text : quantity(o.value, o.unit, 4)) : '');
    const differs = (path: string) => new Set(family.map((r) => shown(r.overrides?.find((o) => o.path === path)))).size > 1;
    return (run.overrides ?? []).filter((o) => differs(o.path)).map((o) => `${o.path} = ${shown(o)}`).join(', ');
}

// Labels of the runs: with several files that of the file comes first, and alone where it has one run. Runs of one `each` carry
// their values.
export function nameRuns(page: Page): void {
    for (const run of page.runs) {
        const file = page.files[run.file].name.replace(/\.h5$/, ''), alone = page.runs.filter((r) => r.file === run.file).length === 1;
        const swept = sweptValues(run, page.runs), name = swept ? `${run.name} · ${swept}` : run.name;
        run.label = page.files.length < 2 ? name : alone ? file : `${file} · ${name}`;
    }
}

// Values at the kept frames, frame by frame; where frames were omitted, the extremes until the next kept one.
export interface Series {
    width: number;
    value: Float64Array;
    low: Float64Array | null;
    high: Float64Array | null;
}

export interface Run {
    index: number;
    head: RunHead;
    n: number; // kept frames
    t: Float64Array;
    clock: Float64Array; // playing time: increases where t is constant or jumps back
    stage: Float32Array;
    frame: Int32Array; // number in the file
    pose: Float32Array; // 7 per node; positions are relative to the offset
    load: Float32Array;
    loop: Float32Array;
    contact: Float32Array;
    effort: Float32Array;
    present: Float32Array;
    field: Float32Array; // 3 per point at which a field acts
    columns: Series;
    energy: Series;
    stats: Float64Array;
    mode: (k: number) => number;
}

// Bytes of an array of a run, by its name; empty: there is none.
export type Arrays = (run: number, name: string) => ArrayBuffer;

// Description and arrays in the elements of this document; null: it has none.
export function pageHere(): { page: Page; arrays: Arrays } | null {
    const text = document.getElementById('sinew-data')?.textContent;
    return text ? { page: JSON.parse(text) as Page, arrays: elements } : null;
}

function elements(run: number, name: string): ArrayBuffer {
    const text = document.getElementById(`sinew-${run}-${name}`)?.textContent ?? '';
    const raw = atob(text.trim());
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
}

function sized<T extends { length: number }>(array: T, n: number, name: string): T {
    if (array.length !== n) throw new Error(`the page is damaged: ${name} has ${array.length} of ${n} numbers`);
    return array;
}


// Where t is constant (equilibria at one time, shapes of modes) or jumps back (a step that begins at the end of another one),
// each frame is shown for a fixed duration.
function playingTime(t: Float64Array, mode: (k: number) => number): Float64Array {
    let span = 0;
    for (let k = 1; k < t.length; k++) span += Math.max(t[k] - t[k - 1], 0) || 0;
    const hold = span > 0 ? span / 80 : 0.15;
    const clock = new Float64Array(t.length);
    for (let k = 1; k < t.length; k++) {
        const dt = t[k] - t[k - 1];
        clock[k] = clock[k - 1] + (mode(k - 1) > 0 ? 8 * hold : dt > 0 ? dt : hold);
    }
    return clock;
}

export function readRun(page: Page, arrays: Arrays, index: number): Run {
    const head = page.runs[index];
    const n = head.kept;
    const single = (name: string, size: number) => sized(new Float32Array(arrays(index, name)), size, name);
    const double = (name: string, size: number) => sized(new Float64Array(arrays(index, name)), size, name);
    const thinned = head.kept < head.frames;
    const series = (name: string, width: number): Series => ({
        width,
        value: double(name, width * n),
        low: thinned ? double(`${name}-low`, width * n) : null,
        high: thinned ? double(`${name}-high`, width * n) : null,
    });
    const stats = double('stats', n * head.stats.length);
    const at = head.stats.indexOf('mode');
    const mode = (k: number) => (at >= 0 ? stats[k * head.stats.length + at] : 0);
    const t = double('t', n);
    return {
        index,
        head,
        n,
        t,
        mode,
        clock: playingTime(t, mode),
        stage: single('stage', n),
        frame: sized(new Int32Array(arrays(index, 'frame')), n, 'frame'),
        pose: single('pose', n * head.nodes * 7),
        load: single('load', n * head.loads * 6),
        loop: single('loop', n * head.loops * 6),
        contact: single('contact', n * head.contacts * 6),
        effort: single('effort', n * head.measures),
        present: single('present', n * head.switches),
        field: head.fields ? single('field', n * head.fields * 3) : new Float32Array(0),
        columns: series('columns', head.columns.length),
        energy: series('energy', head.energy.length),
        stats,
    };
}

export function columnName(c: Column): string {
    const station = c.station >= 0 ? `@${c.station}` : '';
    return c.component ? `${c.probe}${station}.${c.component}` : `${c.probe}${station}`;
}
