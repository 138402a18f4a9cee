// SPDX-License-Identifier: MIT
//
// Bar below the robot: play, time, scrubber with the stages, speed.
import type { Run } from './data';
import { icon, make } from './dom';
import { count, number, quantity } from './format';
import { Player, speeds } from './player';

export class Transport {
    player!: Player;
    readonly element: HTMLElement;
    private run!: Run;
    private readonly playButton = make('button', { class: 'round', type: 'button', onclick: () => this.player.toggle() });
    private readonly scrub = make('input', { type: 'range', min: '0', max: '1', step: 'any', value: '0', 'aria-label': 'time', oninput: () => this.scrubbed() });
    private readonly marks = make('div', { class: 'stages', 'aria-hidden': 'true' });
    private readonly time = make('b');
    private readonly where = make('small');
    private readonly speed = make('select', { 'aria-label': 'speed', onchange: () => (this.player.speed = Number(this.speed.value)) });
    private begin: { stage: number; at: number; label: HTMLElement }[] = [];
    private marked = -1; // stage whose label was placed first

    constructor(private readonly changed: () => void) {
        for (const s of speeds) this.speed.append(make('option', { value: s }, s === 1 ? '1× real time' : `${number(s)}×`));
        this.scrub.addEventListener('pointerdown', () => (this.player.playing = false));
        this.element = make('div', { class: 'bar', role: 'group', 'aria-label': 'transport' }, this.playButton,
            make('div', { class: 'time', 'aria-live': 'off' }, this.time, this.where),
            make('div', { class: 'track' }, this.scrub, this.marks),
            this.speed);
    }

    show(run: Run): void {
        this.run = run;
        this.player = new Player(run, this.changed);
        this.scrub.max = String(this.player.end || 1);
        this.offerSpeed();
        this.markStages();
        // one frame has nothing to play
        this.element.classList.toggle('still', run.n < 2);
    }

    private offerSpeed(): void {
        this.speed.value = String(this.player.speed);
    }

    private scrubbed(): void {
        this.player.playing = false;
        this.player.seek(Number(this.scrub.value));
        this.player.toFrame(this.player.frame);
    }

    // true: a key of the transport
    act(key: string, shift: boolean): boolean {
        const step = shift ? 10 : 1, { player } = this;
        switch (key) {
            case ' ': player.toggle(); break;
            case 'ArrowLeft': player.step(-step); break;
            case 'ArrowRight': player.step(step); break;
            case 'Home': player.step(-this.run.n); break;
            case 'End': player.step(this.run.n); break;
            case '+': case '=': player.faster(1); this.offerSpeed(); break;
            case '-': case '_': player.faster(-1); this.offerSpeed(); break;
            default: return false;
        }
        return true;
    }

    // ticks of the stages under the scrubber, and their names
    private markStages(): void {
        const { run } = this, end = this.player.end || 1;
        this.begin = [];
        for (let k = 0; k < run.n; k++) {
            if (k > 0 && run.stage[k] === run.stage[k - 1]) continue;
            const name = run.head.stages[run.stage[k]]?.name ?? '';
            this.begin.push({ stage: run.stage[k], at: run.clock[k] / end, label: make('span', { title: name }, name) });
        }
        const ticks = this.begin.map((b) => {
            const tick = make('i');
            tick.style.left = `${100 * b.at}%`;
            return tick;
        });
        this.marks.replaceChildren(...ticks, ...this.begin.map((b) => b.label));
        this.marks.classList.toggle('hidden', this.begin.length < 2);
        this.marked = -1;
    }

    // Names are whole or absent: that of the present stage first, then those that fit beside the others.
    placeStages(): void {
        if (!this.run || this.begin.length < 2) return;
        const now = this.run.stage[this.player.frame], width = this.marks.clientWidth, taken: [number, number][] = [];
        this.marked = now;
        const sizes = this.begin.map((b) => b.label.offsetWidth);
        const order = this.begin.map((_, i) => i).sort((a, b) => Number(this.begin[b].stage === now) - Number(this.begin[a].stage === now));
        for (const i of order) {
            const b = this.begin[i], left = Math.max(0, Math.min(b.at * width, width - sizes[i])), right = left + sizes[i];
            // a name that is moved away from its tick by the end of the bar may not lie at the tick of another stage
            const own = b.stage === now, moved = left < b.at * width - 1;
            const free = taken.every(([from, to]) => right <= from || left >= to) && (own || !moved || this.begin.every((o) => o === b || o.at * width < left || o.at * width > right));
            b.label.classList.toggle('now', own);
            b.label.style.transform = `translateX(${left.toFixed(1)}px)`;
            b.label.style.visibility = free && width > 0 ? '' : 'hidden';
            if (free) taken.push([left, right + 4]);
        }
    }

    // frame k, or between k and k + 1
    showTime(k: number, share: number): void {
        const { run, player } = this;
        const t = share > 0 ? run.t[k] + share * (run.t[k + 1] - run.t[k]) : run.t[k];
        const span = Math.abs(run.t[run.n - 1] - run.t[0]) || 1;
        const digits = Math.min(Math.max(Math.ceil(-Math.log10(span)) + 3, 0), 9);
        const mode = run.mode(k), stage = run.head.stages[run.stage[k]]?.name ?? '';
        const stat = (name: string) => run.stats[k * run.head.stats.length + run.head.stats.indexOf(name)], path = run.head.stats.includes('parameter') && stat('path') > 0;
        // along a path its parameter varies, which need not be the time
        this.time.textContent = mode > 0 ? `mode ${mode}` : path ? `at ${number(stat('parameter'), 5)}` : run.n < 2 ? stage : `${t.toFixed(digits).replace('-', '−')} s`;
        const frequency = mode > 0 ? quantity(stat('frequency'), 'Hz', 4) : '';
        this.where.textContent = mode > 0 ? frequency : run.n < 2 ? 'one frame' : `frame ${count(run.frame[k] + 1)} of ${count(run.head.frames)}`;
        if (document.activeElement !== this.scrub || player.playing || Number(this.scrub.value) !== player.now) this.scrub.value = String(player.now);
        this.scrub.setAttribute('aria-valuetext', `${this.time.textContent}, ${this.where.textContent}, ${stage}`);
        const playing = player.playing ? 'pause' : 'play';
        if (this.playButton.dataset.state !== playing) {
            this.playButton.dataset.state = playing;
            this.playButton.setAttribute('aria-label', playing);
            this.playButton.title = `${playing} (space)`;
            this.playButton.replaceChildren(icon(playing));
        }
        if (this.marked !== run.stage[k]) this.placeStages();
    }

    // what pictures say of the time: `1.25 s`, `mode 2, 4.08 Hz`
    get caption(): string {
        const mode = this.run.mode(this.player.frame) > 0;
        return mode ? `${this.time.textContent}, ${this.where.textContent}` : this.run.n < 2 ? '' : this.time.textContent ?? '';
    }
}
