// SPDX-License-Identifier: MIT
//
// Measurements beside a run: dots in its curves, and points over the robot.
import type { Measured, Run } from './data';

// Measured position of a probe at some time; NaN: this component was not measured.
interface Point {
    column: number; // of its x; y and z follow
    at: number[];
}

class Measurements {
    readonly any: boolean;
    private readonly files: Measured[];

    constructor(run: Run) {
        const width = run.head.columns.length, list = Array.isArray(run.head.measured) ? run.head.measured : [];
        // columns and values within their bounds
        this.files = list.filter((m) => m && Array.isArray(m.t) && Array.isArray(m.columns))
            .map((m) => ({ ...m, columns: m.columns.filter((c) => c && Number.isInteger(c.column) && c.column >= 0 && c.column < width && Array.isArray(c.value)) }));
        this.any = this.files.some((m) => m.columns.length > 0);
    }

    // Times and values of a column, the times increasing as curves need; undefined: none.
    dots(column: number): [number[], number[]] | undefined {
        const all: [number, number][] = [];
        for (const m of this.files) {
            for (const c of m.columns) {
                if (c.column === column) m.t.forEach((t, i) => typeof t === 'number' && typeof c.value[i] === 'number' && all.push([t, c.value[i] as number]));
            }
        }
        all.sort((a, b) => a[0] - b[0]);
        return all.length ? [all.map((p) => p[0]), all.map((p) => p[1])] : undefined;
    }

    // Positions measured next to time t, if `places` are the first columns of positions; within half the distance of two samples.
    points(t: number, places: Set<number>): Point[] {
        const out: Point[] = [];
        for (const m of this.files) {
            let row = -1, step = Infinity;
            m.t.forEach((x, i) => {
                if (typeof x !== 'number') return;
                const before = m.t[i - 1];
                if (typeof before === 'number' && x > before) step = Math.min(step, x - before);
                if (row < 0 || Math.abs(x - t) < Math.abs((m.t[row] as number) - t)) row = i;
            });
            if (row < 0 || (Number.isFinite(step) && Math.abs((m.t[row] as number) - t) > 0.6 * step)) continue;
            for (const column of places) {
                const at = [0, 1, 2].map((d) => {
                    const x = m.columns.find((c) => c.column === column + d)?.value[row];
                    return typeof x === 'number' ? x : NaN;
                });
                if (at.some((x) => Number.isFinite(x))) out.push({ column, at });
            }
        }
        return out;
    }
}

const known = new WeakMap<Run, Measurements>();

export function readMeasured(run: Run): Measurements {
    if (!known.has(run)) known.set(run, new Measurements(run));
    return known.get(run)!;
}
