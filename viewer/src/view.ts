// SPDX-License-Identifier: MIT
//
// Page of a result file: reads its data, lays out playback controls and curves, and keeps them at one instant.
import { readRun, type Page, type Run } from './data';
import { icon, make } from './dom';
import { count, number, quantity } from './format';
import { Player, speeds } from './player';
import { Axis, energyCard, Plot, probeCards, solverCards, type Card } from './plots';
import { Robot } from './robot';
import { readScenes, type Scene } from './scene';
import { Shell } from './shell';

const CARDS = 16; // shown until more are requested

export class View {
    private run!: Run;
    private scene!: Scene;
    private told = true;
    private robot!: Robot;
    private eras: { stage: number; robot: Robot }[] = [];
    private player!: Player;
    private plots: Plot[] = [];
    private stale = true; // the robot must be posed again
    private drawnFrame = -1;
    private readonly playButton = make('button', { class: 'round', type: 'button', onclick: () => this.player.toggle() });
    private readonly scrub = make('input', { type: 'range', min: '0', max: '1', step: 'any', value: '0', 'aria-label': 'time', oninput: () => this.scrubbed() });
    private readonly marks = make('div', { class: 'stages', 'aria-hidden': 'true' });
    private readonly time = make('b');
    private readonly where = make('small');
    private readonly speed = make('select', { 'aria-label': 'speed', onchange: () => this.setSpeed() });
    private readonly shell = new Shell({
        redraw: () => {
            this.drawnFrame = -1;
            this.stale = true;
        },
        themed: (theme) => this.plots.forEach((p) => p.draw(theme)),
        resized: () => this.plots.forEach((p) => p.resize()),
        legend: () => this.say(),
    }, [['play, pause', 'space'], ['one frame back, forward; ten with shift', '←', '→'], ['to the beginning, the end', 'home', 'end'], ['faster, slower', '+', '−'], ['previous run, next run', '[', ']']], 'curves and figures');
    private readonly runs: HTMLSelectElement;
    private rows: HTMLElement[] = [];

    constructor(private readonly page: Page) {
        this.runs = make('select', { 'aria-label': 'run', onchange: () => this.open(this.runs.selectedIndex) }, ...page.runs.map((r) => make('option', {}, r.name)));
        for (const s of speeds) this.speed.append(make('option', { value: s }, s === 1 ? '1× real time' : `${number(s)}×`));
        this.build();
        this.shell.setTheme(this.shell.theme);
        this.open(Math.max(0, page.runs.findIndex((r) => r.kept > 0)));
        this.listen();
        requestAnimationFrame((ms) => this.tick(ms));
    }

    // ---- layout

    private build(): void {
        const runs = make('label', { class: this.page.runs.length > 1 ? '' : 'hidden' }, 'run', this.runs);
        this.shell.build([runs], make('div', { class: 'bar', role: 'group', 'aria-label': 'transport' }, this.playButton,
            make('div', { class: 'time', 'aria-live': 'off' }, this.time, this.where),
            make('div', { class: 'track' }, this.scrub, this.marks),
            this.speed));
    }

    // ---- a run

    private open(index: number): void {
        const head = this.page.runs[index];
        this.run = readRun(this.page, index);
        const { eras, told } = readScenes(head);
        this.scene = eras[0].scene;
        this.told = told;
        this.runs.selectedIndex = index;
        const state = head.state === 'finished' ? '' : ` · ${head.state}`;
        this.shell.name(head.title || this.page.file || 'Sinew', `${this.page.file}${this.page.runs.length > 1 ? '' : head.name === 'main' ? '' : ` · ${head.name}`} · ${count(head.frames)} frame${head.frames === 1 ? '' : 's'}${state} · sinew ${this.page.version}, ${this.page.created.slice(0, 10)}`);
        this.player = new Player(this.run, () => (this.stale = true));
        if (head.kept === 0) {
            this.shell.remark('this run has no frames');
            this.shell.side.replaceChildren();
            return;
        }
        for (const e of this.eras) e.robot.dispose();
        const era = (k: number) => eras.reduce((a, e) => (e.stage <= this.run.stage[k] ? e : a));
        this.eras = eras.map((e) => ({ stage: e.stage, robot: new Robot(this.run, e.scene, 0, (k) => era(k) === e) }));
        this.robot = this.eras[0].robot;
        // one colour scale for all runs
        for (const { robot } of this.eras) for (const q of Object.keys(robot.most) as (keyof Robot['most'])[]) this.robot.most[q] = Math.max(this.robot.most[q], robot.most[q]);
        for (const { robot } of this.eras) Object.assign(robot.most, this.robot.most);
        this.drawnFrame = -1;
        this.shell.present(this.robot);
        this.scrub.max = String(this.player.end || 1);
        this.markStages();
        this.fillSide();
        this.offerSpeed();
        this.say();
        this.stale = true;
    }

    private offerSpeed(): void {
        this.speed.value = String(this.player.speed);
    }

    // the stages under the scrubber
    private markStages(): void {
        const { run } = this, end = this.player.end || 1;
        const begin: { stage: number; at: number }[] = [];
        for (let k = 0; k < run.n; k++) if (k === 0 || run.stage[k] !== run.stage[k - 1]) begin.push({ stage: run.stage[k], at: run.clock[k] / end });
        this.marks.replaceChildren(...begin.map((b, i) => {
            const width = (i + 1 < begin.length ? begin[i + 1].at : 1) - b.at;
            const span = make('span', {}, run.head.stages[b.stage]?.name ?? '');
            span.style.left = `${100 * b.at}%`;
            span.style.width = `${Math.max(100 * width, 0.2)}%`;
            span.dataset.stage = String(b.stage);
            return span;
        }));
        this.marks.classList.toggle('hidden', begin.length < 2);
    }

    private fillSide(): void {
        for (const p of this.plots) p.destroy();
        this.plots = [];
        const axis = new Axis(this.run);
        const seek = (k: number) => {
            this.player.playing = false;
            this.player.toFrame(k);
        };
        const plot = (c: Card) => {
            const p = new Plot(c, this.run, axis, seek);
            this.plots.push(p);
            return p.element;
        };
        const probes = probeCards(this.run, this.scene), first = probes.slice(0, CARDS), rest = probes.slice(CARDS);
        const energy = energyCard(this.run);
        const more = make('button', { class: 'more', type: 'button', onclick: () => {
            const before = this.plots.length;
            more.replaceWith(...rest.map(plot));
            this.plots.slice(before).forEach((p) => p.draw(this.shell.theme));
            this.drawnFrame = -1;
            this.stale = true;
        } }, `${rest.length} more`);
        this.shell.side.replaceChildren(
            ...(probes.length ? [make('h2', {}, 'Probes'), ...first.map(plot), rest.length ? more : ''] : []),
            ...(energy ? [make('h2', {}, 'Energy'), plot(energy)] : []),
            make('h2', {}, 'Stages'), this.stageTable(),
            make('h2', {}, 'Solver'), ...solverCards(this.run).map(plot),
            make('h2', {}, 'About'), this.about());
        for (const p of this.plots) p.draw(this.shell.theme);
    }

    private stageTable(): HTMLElement {
        const cell = (text: string) => make('td', {}, text);
        this.rows = this.run.head.stages.map((s, i) => make('tr', {},
            make('td', {}, make('button', { type: 'button', title: 'go there', onclick: () => this.toStage(i) }, s.name)),
            cell(count(s.frames)), cell(s.frames ? (s.last > s.first ? `${number(s.first)} – ${number(s.last)} s` : `${number(s.first)} s`) : ''),
            cell(count(s.increments)), cell(count(s.iterations)), cell(number(s.residual ?? NaN, 2)), cell(s.condition ? number(s.condition, 2) : ''), cell(number(s.geometry ?? NaN, 2))));
        return make('section', { class: 'card scroll' }, make('table', {},
            make('thead', {}, make('tr', {}, ...['stage', 'frames', 'time', 'increments', 'iterations', 'residual', 'condition', 'geometry'].map((h) => make('th', { scope: 'col' }, h)))),
            make('tbody', {}, ...this.rows)));
    }

    private about(): HTMLElement {
        const { head } = this.run;
        const line = (name: string, value: string) => [make('dt', {}, name), make('dd', {}, value)];
        return make('section', { class: 'card' },
            make('dl', {}, ...line('run', head.name), ...line('state', head.state), ...(head.message ? line('reason', head.message) : []), ...line('degrees of freedom', count(head.freedom)), ...line('nodes', count(head.nodes)),
                ...line('frames', head.kept < head.frames ? `${count(head.kept)} of ${count(head.frames)} in this page` : count(head.frames)), ...line('written', `sinew ${this.page.version}, ${this.page.created}`)),
            make('details', { class: 'text' }, make('summary', {}, 'the model'), make('pre', { tabindex: '0' }, this.page.model)));
    }

    // ---- input of the user

    private listen(): void {
        this.shell.onKeys((key, shift) => this.act(key, shift));
        this.scrub.addEventListener('pointerdown', () => (this.player.playing = false));
    }

    private act(key: string, shift: boolean): boolean {
        const step = shift ? 10 : 1;
        switch (key) {
            case ' ': this.player.toggle(); break;
            case 'ArrowLeft': this.player.step(-step); break;
            case 'ArrowRight': this.player.step(step); break;
            case 'Home': this.player.step(-this.run.n); break;
            case 'End': this.player.step(this.run.n); break;
            case '+': case '=': this.player.faster(1); this.offerSpeed(); break;
            case '-': case '_': this.player.faster(-1); this.offerSpeed(); break;
            case '[': case ']': this.nextRun(key === ']' ? 1 : -1); break;
            default: return false;
        }
        return true;
    }

    private nextRun(by: number): void {
        const i = this.run.index + by;
        if (i >= 0 && i < this.page.runs.length) this.open(i);
    }

    private toStage(stage: number): void {
        const k = this.run.stage.findIndex((s) => s === stage);
        if (k >= 0) this.player.step(k - this.player.frame);
    }

    private scrubbed(): void {
        this.player.playing = false;
        this.player.seek(Number(this.scrub.value));
        this.player.toFrame(this.player.frame);
    }

    private setSpeed(): void {
        this.player.speed = Number(this.speed.value);
    }

    // ---- notes

    private say(): void {
        if (this.run.n === 0) return;
        this.shell.say(this.robot, [
            this.told ? '' : 'the file has no appearance of the robot: nodes are joined by lines',
            this.run.head.kept < this.run.head.frames ? `${count(this.run.head.kept)} of ${count(this.run.head.frames)} frames; curves keep every extreme` : '',
        ]);
    }

    // ---- drawing

    private tick(ms: number): void {
        requestAnimationFrame((next) => this.tick(next));
        this.player.tick(ms);
        if (this.stale) this.move();
        this.shell.draw(this.robot);
    }

    // the robot with the scene of the stage of a frame
    private enter(k: number): void {
        const { robot } = this.eras.reduce((a, e) => (e.stage <= this.run.stage[k] ? e : a));
        if (robot === this.robot) return;
        this.robot = robot;
        this.shell.stage?.swap(robot);
        robot.dress(this.shell.theme);
    }

    private move(): void {
        this.stale = false;
        if (this.run.n === 0) return;
        const k = this.player.frame, share = this.player.share, rest = this.restOf(k);
        const swings = rest >= 0 && this.player.playing;
        if (k !== this.drawnFrame || share > 0 || swings) {
            this.enter(k);
            if (rest >= 0) this.robot.update(k, this.player.swing, this.shell.shown, this.shell.theme, rest);
            else this.robot.update(k, share, this.shell.shown, this.shell.theme);
            this.shell.stage?.follow();
            if (this.shell.stage) this.shell.stage.dirty = true;
        }
        // interpolated poses are not those of the frame
        this.drawnFrame = share > 0 || swings ? -1 : k;
        for (const p of this.plots) p.mark(k, share);
        this.showTime(k, share);
    }

    // configuration to which a mode shape belongs: the last frame of its stage
    private restOf(k: number): number {
        const { run } = this;
        if (!(run.mode(k) > 0)) return -1;
        let last = k;
        while (last + 1 < run.n && run.stage[last + 1] === run.stage[k]) last++;
        return run.mode(last) > 0 ? -1 : last;
    }

    private showTime(k: number, share: number): void {
        const { run } = this;
        const t = share > 0 ? run.t[k] + share * (run.t[k + 1] - run.t[k]) : run.t[k];
        const span = Math.abs(run.t[run.n - 1] - run.t[0]) || 1;
        const digits = Math.min(Math.max(Math.ceil(-Math.log10(span)) + 3, 0), 9);
        const mode = run.mode(k), at = run.head.stats.indexOf('frequency');
        this.time.textContent = mode > 0 ? `mode ${mode}` : `${t.toFixed(digits).replace('-', '−')} s`;
        const frequency = mode > 0 ? quantity(run.stats[k * run.head.stats.length + at], 'Hz') : '';
        this.where.textContent = mode > 0 ? frequency : `frame ${count(run.frame[k] + 1)} of ${count(run.head.frames)}`;
        if (document.activeElement !== this.scrub || this.player.playing || Number(this.scrub.value) !== this.player.now) this.scrub.value = String(this.player.now);
        this.scrub.setAttribute('aria-valuetext', `${this.time.textContent}, ${this.where.textContent}, ${run.head.stages[run.stage[k]]?.name ?? ''}`);
        const playing = this.player.playing ? 'pause' : 'play';
        if (this.playButton.dataset.state !== playing) {
            this.playButton.dataset.state = playing;
            this.playButton.setAttribute('aria-label', playing);
            this.playButton.title = `${playing} (space)`;
            this.playButton.replaceChildren(icon(playing));
        }
        this.rows.forEach((r, i) => r.classList.toggle('now', i === run.stage[k]));
        this.marks.querySelectorAll<HTMLElement>('span').forEach((s) => s.classList.toggle('now', Number(s.dataset.stage) === run.stage[k]));
    }

    // for tests: displayed values and their positions on the screen
    hook() {
        return {
            project: (x: number, y: number, z: number) => this.shell.stage?.project(x, y, z) ?? null,
            state: () => ({ run: this.run.head.name, n: this.run.n, nodes: this.run.head.nodes, frame: this.player.frame, t: this.run.t[this.player.frame], playing: this.player.playing, speed: this.player.speed, theme: this.shell.theme.dark ? 'dark' : 'light', colour: this.shell.shown.colour, told: this.told }),
            node: (i: number) => Array.from(this.robot.poses.g.subarray(7 * i, 7 * i + 3)),
            curves: () => this.plots.map((p) => ({ title: p.card.title, unit: p.card.unit, curves: p.card.curves.length, points: p.length })),
        };
    }
}
