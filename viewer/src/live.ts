// SPDX-License-Identifier: MIT
//
// Messages of a live simulation: greeting, state, frames. The present frame has the form of a run of one frame, so that it is
// drawn like a result; curves show a run of the last seconds.
import type { Run, RunHead, RunShape } from './data';

export interface Control {
    name: string;
    unit: string;
    low: number;
    high: number;
    guessed: boolean;
    parameter: boolean;
    value: number;
}

export interface Hello extends RunShape {
    type: 'hello';
    file: string;
    title: string;
    run: string;
    version: string;
    model: string;
    step: number;
    rate: number;
    freedom: number;
    controls: Control[];
    scene: string;
}

export interface State {
    type: 'state';
    writer: boolean;
    clients: number;
    paused: boolean;
    failed: boolean;
    speed: number;
    recording: string | null;
    wanted: (number | null)[];
}

export interface Note {
    type: 'note';
    words: string;
}

const HEAD = 40; // bytes before the numbers, cli/play_send.c
const PAST = 20; // duration that curves show, s
const RATE = 30; // rate of their points, 1/s

const nothing = { width: 0, value: new Float64Array(0), low: null, high: null };

function headOf(hello: Hello): RunHead {
    return {
        file: 0, name: hello.run, label: hello.run, title: hello.title, state: 'running', message: '', frames: 1, kept: 1, nodes: hello.nodes, freedom: hello.freedom,
        loads: hello.loads, loops: hello.loops, contacts: hello.contacts, measures: hello.measures, switches: hello.switches, fields: hello.fields, offset: [0, 0, 0],
        node_link: hello.node_link, columns: hello.columns, energy: hello.energy, stats: [], scene: hello.scene, stages: [],
    };
}

function runOf(head: RunHead, n: number, room: number): Run {
    return {
        index: 0, head, n, t: new Float64Array(room), clock: new Float64Array(room), stage: new Float32Array(room), frame: new Int32Array(room),
        pose: new Float32Array(0), load: new Float32Array(0), loop: new Float32Array(0), contact: new Float32Array(0), effort: new Float32Array(0), present: new Float32Array(0), field: new Float32Array(0),
        columns: nothing, energy: nothing, stats: new Float64Array(0), mode: () => 0,
    };
}

// The present frame.
export class Present {
    readonly run: Run;
    speed = 1; // simulated over real time; requested value below
    wanted = 1;
    step = 0; // duration of a step, s
    serial = 0;
    node = -1; // node that a user drags; its position, and that of the pointer
    point: number[] = [0, 0, 0];
    hand: number[] = [0, 0, 0];
    columns = new Float32Array(0);
    energy = new Float32Array(0);
    controls = new Float32Array(0);

    constructor(private readonly hello: Hello) {
        this.run = runOf(headOf(hello), 1, 1);
    }

    get t(): number {
        return this.run.t[0];
    }

    // False: the message does not have the size of a frame.
    take(buffer: ArrayBuffer): boolean {
        const h = this.hello, { run } = this;
        const sizes = [7 * h.nodes, 6 * h.loads, 6 * h.loops, 6 * h.contacts, h.measures, h.switches, 3 * (h.fields ?? 0), h.columns.length, h.energy.length, h.controls.length, 3, 3];
        if (buffer.byteLength !== HEAD + 4 * sizes.reduce((a, b) => a + b, 0)) return false;
        const head = new DataView(buffer);
        run.t[0] = head.getFloat64(0, true);
        this.speed = head.getFloat32(8, true);
        this.step = head.getFloat32(12, true);
        this.serial = head.getUint32(20, true);
        this.node = head.getFloat32(28, true) !== 0 ? head.getInt32(24, true) : -1;
        this.wanted = head.getFloat32(32, true);
        let at = HEAD;
        const [pose, load, loop, contact, effort, present, field, columns, energy, controls, point, hand] = sizes.map((n) => {
            const part = new Float32Array(buffer, at, n);
            at += 4 * n;
            return part;
        });
        // undetermined values (NaN) count as zero
        for (const a of [load, loop]) for (let i = 0; i < a.length; i++) if (Number.isNaN(a[i])) a[i] = 0;
        Object.assign(run, { pose, load, loop, contact, effort, present, field });
        Object.assign(this, { columns, energy, controls, point: Array.from(point), hand: Array.from(hand) });
        return true;
    }
}

// The last seconds, for curves.
export class Past {
    readonly run: Run;
    private readonly room = Math.ceil(1.5 * PAST * RATE);

    constructor(hello: Hello) {
        this.run = runOf(headOf(hello), 0, this.room);
        const series = (width: number) => ({ width, value: new Float64Array(width * this.room), low: null, high: null });
        this.run.columns = series(hello.columns.length);
        this.run.energy = series(hello.energy.length);
    }

    add(now: Present): void {
        const { run } = this, last = run.n > 0 ? run.t[run.n - 1] : -Infinity;
        if (now.t < last) run.n = 0; // the simulation was reset
        else if (now.t < last + 0.9 / RATE) return;
        if (run.n === this.room) this.forget();
        const k = run.n++;
        run.t[k] = now.t;
        run.frame[k] = k;
        run.columns.value.set(now.columns, k * run.columns.width);
        run.energy.value.set(now.energy, k * run.energy.width);
    }

    // remove the oldest third at once, so that this is rare
    private forget(): void {
        const { run } = this, gone = Math.floor(this.room / 3);
        run.t.copyWithin(0, gone);
        run.columns.value.copyWithin(0, gone * run.columns.width);
        run.energy.value.copyWithin(0, gone * run.energy.width);
        run.n -= gone;
    }
}
