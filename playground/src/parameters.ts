// SPDX-License-Identifier: MIT
//
// Numbers of a model that a slider may move: constants under `parameters`, over the range under `live` where there is one, and
// the actuators under `live`, whose law a slider replaces by a constant.
import type { Entry } from './position';

export interface Parameter {
    name: string;
    from: number; // of the number in the text
    to: number;
    value: number; // NaN: an actuator that keeps its law
    unit: string;
    low: number;
    high: number;
    path?: string; // of an actuator: the value to override, `cable.effort`
}

const NUMBER = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:\s+(\S.*))?$/;

function quantity(text: string): { value: number; unit: string; length: number } | null {
    const found = NUMBER.exec(text.trim());
    return found && { value: Number(found[1]), unit: found[2] ?? '', length: found[1].length };
}

// Range of a slider for a number without one: around it, with zero at one end.
function around(value: number): [number, number] {
    if (value === 0) return [-1, 1];
    const decade = 10 ** Math.floor(Math.log10(Math.abs(value)));
    const far = (Math.ceil((2 * Math.abs(value)) / decade) * decade) * Math.sign(value);
    return value > 0 ? [0, far] : [far, 0];
}

// Range `[low, high]` under live; null where it has another unit than the value.
function range(text: string, at: number, unit: string): [number, number] | null {
    const inner = /^\[([^\]]*)\]/.exec(text.slice(at));
    const ends = inner?.[1].split(',').map((e) => quantity(e)) ?? [];
    if (ends.length !== 2 || !ends[0] || !ends[1]) return null;
    if (ends.some((e) => e!.unit && e!.unit !== unit)) return null;
    return [ends[0].value, ends[1].value];
}

const controls = ['effort', 'position', 'rate', 'shortening', 'volume', 'pressure'];

// Actuators under `live` with one number each; `set` has the values chosen so far, by path.
export function actuators(text: string, entries: Entry[], set: Map<string, string>): Parameter[] {
    return entries.filter((e) => e.path.length === 2 && e.path[0] === 'live').flatMap((e) => {
        const name = String(e.path[1]), own = entries.filter((a) => a.path.length === 3 && a.path[0] === 'actuators' && a.path[1] === name);
        const control = own.find((a) => controls.includes(String(a.path[2])) && a.text);
        const unit = /[\d.]\s+([^\]\s,][^\],]*)/.exec(text.slice(e.value).split(']')[0])?.[1].trim() ?? '';
        const ends = control ? range(text, e.value, unit) : null;
        if (!control || !ends) return [];
        const path = `${name}.${control.path[2]}`, chosen = set.get(path);
        return [{ name, path, unit, low: ends[0], high: ends[1], from: 0, to: 0, value: chosen === undefined ? NaN : parseFloat(chosen) }];
    });
}

// `kept`: ranges of sliders in use, which must not change while one is moved.
export function parameters(text: string, entries: Entry[], kept: Map<string, [number, number]>): Parameter[] {
    const live = new Map(entries.filter((e) => e.path.length === 2 && e.path[0] === 'live').map((e) => [e.path[1], e]));
    return entries.filter((e) => e.path.length === 2 && e.path[0] === 'parameters' && e.text && !/^["']/.test(e.text)).flatMap((e) => {
        const number = quantity(e.text), name = String(e.path[1]);
        if (!number || !/^\w+$/.test(name) || /^[-+*/^(]/.test(number.unit)) return [];
        const given = live.get(name), asked = given ? range(text, given.value, number.unit) : null;
        const before = kept.get(name), { value, unit } = number;
        const [low, high] = asked ?? (before && before[0] <= value && value <= before[1] ? before : around(value));
        return [{ name, value, unit, low, high, from: e.value, to: e.value + number.length }];
    });
}
