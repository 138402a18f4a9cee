// SPDX-License-Identifier: MIT
//
// Sliders for the parameters of a model: a slider that is moved changes the number in the text.
import { make } from '../../viewer/src/dom';
import { number } from '../../viewer/src/format';
import type { Parameter } from './parameters';

export class Sliders {
    readonly ranges = new Map<string, [number, number]>(); // of the sliders shown
    private list: Parameter[] = [];
    private rows = new Map<string, { input: HTMLInputElement; output: HTMLElement; row: HTMLElement }>();

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
            if (Number(row.input.value) !== p.value) row.input.value = String(p.value);
            row.input.style.setProperty('--at', `${(100 * (p.value - p.low)) / (p.high - p.low)}%`);
            row.output.textContent = `${number(p.value, 4)} ${p.unit}`;
        }
    }

    private build(): void {
        this.rows.clear();
        this.ranges.clear();
        for (const p of this.list) {
            this.ranges.set(p.name, [p.low, p.high]);
            const input = make('input', { type: 'range', min: p.low, max: p.high, step: 'any', value: p.value, 'aria-label': p.name, oninput: () => this.turn(p.name) });
            const output = make('output');
            const row = make('div', { class: 'knob' }, make('span', { class: 'what' }, p.name), output, input);
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
