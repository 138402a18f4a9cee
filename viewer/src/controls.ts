// SPDX-License-Identifier: MIT
//
// Sliders: one for each control of a live simulation.
import { make } from './dom';
import { quantity } from './format';
import type { Control } from './live';
import type { Link } from './wire';

export function valueText(x: number, unit: string): string {
    if (unit === 'rad') return `${((180 / Math.PI) * x).toFixed(1).replace('-', '−')}°`;
    return quantity(x, unit);
}

class Knob {
    readonly element: HTMLElement;
    readonly input: HTMLInputElement;
    private readonly output = make('output', {});
    private readonly free: HTMLButtonElement;
    private held = false; // this window is moving it now
    private waiting: number | null = null;

    constructor(readonly control: Control, private readonly index: number, private readonly wire: Link) {
        const { name, low, high, value, guessed, parameter } = control;
        const what = parameter ? `parameter ${name}` : `actuator ${name}`;
        this.input = make('input', { type: 'range', min: low, max: high, step: 'any', value, 'aria-label': what, 'data-own': '', oninput: () => this.turn(), onpointerdown: () => (this.held = true) });
        this.input.title = guessed ? 'the range is a guess; the file can give it under live:' : '';
        for (const end of ['pointerup', 'pointercancel', 'change', 'blur']) this.input.addEventListener(end, () => (this.held = false));
        this.free = make('button', { class: 'plain', type: 'button', title: 'back to the value of the file', 'aria-label': `${name} back to the value of the file`, onclick: () => this.wire.send({ do: 'free', control: this.index }) }, '↺');
        this.element = make('div', { class: 'knob' }, make('span', { class: 'what' }, name), this.output, this.input, this.free);
        this.show(value);
    }

    // several changes between two pictures are sent as one
    private turn(): void {
        const first = this.waiting === null;
        this.waiting = this.input.valueAsNumber;
        this.label(this.waiting);
        if (first) queueMicrotask(() => this.flush());
    }

    private flush(): void {
        if (this.waiting !== null) this.wire.send({ do: 'set', control: this.index, value: this.waiting });
        this.waiting = null;
    }

    private label(x: number): void {
        const text = valueText(x, this.control.unit);
        if (this.output.textContent !== text) this.output.textContent = text;
        const { low, high } = this.control;
        this.input.style.setProperty('--at', `${(100 * (Math.min(Math.max(x, low), high) - low)) / (high - low)}%`);
        this.input.setAttribute('aria-valuetext', text);
    }

    show(x: number): void {
        if (this.held || this.waiting !== null || !Number.isFinite(x)) return;
        this.label(x);
        if (document.activeElement !== this.input || Math.abs(this.input.valueAsNumber - x) > 0) this.input.value = String(x);
    }

    // `wanted`: value set by a user, null: none; `mine`: this window may change it
    stand(wanted: number | null, mine: boolean): void {
        this.input.disabled = !mine;
        this.free.disabled = !mine || wanted === null;
        this.element.classList.toggle('turned', wanted !== null);
        if (this.control.parameter && wanted !== null) this.show(wanted);
    }
}

export class Controls {
    readonly elements: HTMLElement[];
    private readonly knobs: Knob[];

    constructor(controls: Control[], wire: Link) {
        this.knobs = controls.map((c, i) => new Knob(c, i, wire));
        const card = (title: string, parameter: boolean) => {
            const own = this.knobs.filter((k) => k.control.parameter === parameter);
            return own.length ? [make('h2', {}, title), make('section', { class: 'card knobs', 'aria-label': title }, ...own.map((k) => k.element))] : [];
        };
        this.elements = [...card('Actuators', false), ...card('Parameters', true)];
        if (!controls.length) this.elements = [make('h2', {}, 'Actuators'), make('section', { class: 'card' }, 'This robot has no actuators, and the file has no parameters under live:. The mouse can still pull at it.')];
    }

    show(values: Float32Array): void {
        this.knobs.forEach((k, i) => k.show(values[i]));
    }

    stand(wanted: (number | null)[], mine: boolean): void {
        this.knobs.forEach((k, i) => k.stand(wanted[i] ?? null, mine));
    }
}
