// SPDX-License-Identifier: MIT
//
// The page: reads what it holds, lays out robot, transport and curves, and keeps them at one instant.
import { dark, light, scaleGradient, type Theme } from './colour';
import { readPage, readRun, type Page, type Run } from './data';
import { icon, make } from './dom';
import { count, number, quantity } from './format';
import { Player, speeds } from './player';
import { Axis, energyCard, Plot, probeCards, solverCards, type Card } from './plots';
import { Robot, type Shown } from './robot';
import type { Quantity } from './rod';
import { readScenes, type Scene } from './scene';
import { Stage, type Preset } from './stage';

const CARDS = 16; // shown before one asks for more

class App {
    private run!: Run;
    private scene!: Scene;
    private told = true;
    private robot!: Robot;
    private player!: Player;
    private plots: Plot[] = [];
    private theme: Theme;
    private stage: Stage | null = null;
    private readonly shown: Shown = { colour: 'strain', tendons: true, joints: true, forces: true, reactions: true, trails: true, frames: false, sites: false };
    private ground = true;
    private stale = true; // the robot is to be moved
    private drawnFrame = -1;
    private readonly canvas = make('canvas', { tabindex: '0', role: 'img', 'aria-label': 'the robot in three dimensions; drag to turn it, scroll to zoom' });
    private readonly title = make('h1');
    private readonly subtitle = make('p');
    private readonly playButton = make('button', { class: 'round', type: 'button', onclick: () => this.player.toggle() });
    private readonly scrub = make('input', { type: 'range', min: '0', max: '1', step: 'any', value: '0', 'aria-label': 'time', oninput: () => this.scrubbed() });
    private readonly marks = make('div', { class: 'stages', 'aria-hidden': 'true' });
    private readonly time = make('b');
    private readonly where = make('small');
    private readonly speed = make('select', { 'aria-label': 'speed', onchange: () => this.setSpeed() });
    private readonly legend = make('div', { class: 'legend' });
    private readonly note = make('div', { class: 'note' });
    private readonly labels = make('div', { class: 'labels', 'aria-hidden': 'true' });
    private readonly siteBox = make('label');
    private eras: { stage: number; robot: Robot }[] = [];
    private readonly side = make('aside', { class: 'side', 'aria-label': 'curves and figures', tabindex: '0' });
    private readonly stageBox = make('main', { class: 'stage' });
    private readonly followButton = make('button', { type: 'button', 'aria-pressed': 'false', title: 'the camera goes along', onclick: () => this.toggleFollow() }, 'follow');
    private readonly themeButton = make('button', { class: 'plain', type: 'button', 'aria-label': 'light or dark', title: 'light or dark (t)', onclick: () => this.toggleTheme() });
    private readonly colour = make('select', { 'aria-label': 'colour of rods', onchange: () => this.setColour() });
    private readonly help = this.makeHelp();
    private readonly runs: HTMLSelectElement;
    private rows: HTMLElement[] = [];

    constructor(private readonly page: Page) {
        const wanted = window.matchMedia('(prefers-color-scheme: dark)');
        this.theme = wanted.matches ? dark : light;
        wanted.addEventListener('change', () => this.setTheme(wanted.matches ? dark : light));
        this.runs = make('select', { 'aria-label': 'run', onchange: () => this.open(this.runs.selectedIndex) }, ...page.runs.map((r) => make('option', {}, r.name)));
        for (const s of speeds) this.speed.append(make('option', { value: s }, s === 1 ? '1× real time' : `${number(s)}×`));
        this.build();
        this.openStage();
        this.setTheme(this.theme);
        this.open(Math.max(0, page.runs.findIndex((r) => r.kept > 0)));
        this.listen();
        requestAnimationFrame((ms) => this.tick(ms));
    }

    // ---- layout

    private build(): void {
        const preset = (name: Preset, label: string, key: string) => make('button', { type: 'button', title: `look from there (${key})`, onclick: () => this.look(name) }, label);
        const check = (key: keyof Shown, label: string) => {
            const box = make('input', { type: 'checkbox', onchange: () => this.setShown(key, box.checked) });
            box.checked = this.shown[key] === true;
            box.dataset.show = key;
            return make('label', {}, box, label);
        };
        this.siteBox.append(...check('sites', 'named sites').childNodes);
        const ground = make('input', { type: 'checkbox', checked: true, onchange: () => this.setGround(ground.checked) });
        const menu = make('details', { class: 'menu' },
            make('summary', {}, 'show'),
            make('div', {},
                make('label', { class: 'row' }, 'rods by', this.colour),
                check('tendons', 'tendons and chambers'), check('joints', 'joints'), check('forces', 'loads'), check('reactions', 'reactions of loops and ground'),
                check('trails', 'trails'), check('frames', 'frames of links'), this.siteBox, make('label', {}, ground, 'grid')));
        document.addEventListener('click', (e) => {
            if (menu.open && !menu.contains(e.target as Node)) menu.open = false;
        });
        this.stageBox.append(this.canvas, this.labels,
            make('div', { class: 'tools' },
                make('div', { class: 'group', role: 'group', 'aria-label': 'camera' }, preset('free', 'fit', 'f'), preset('front', 'front', '1'), preset('side', 'side', '2'), preset('top', 'top', '3'), this.followButton),
                menu),
            this.legend, this.note);
        const runs = make('label', { class: this.page.runs.length > 1 ? '' : 'hidden' }, 'run', this.runs);
        document.getElementById('app')!.append(make('div', { class: 'page' },
            make('header', { class: 'top' }, make('div', { class: 'name' }, this.title, this.subtitle), runs, this.themeButton,
                make('button', { class: 'plain', type: 'button', 'aria-label': 'keys', title: 'keys (?)', onclick: () => this.help.showModal() }, '?')),
            this.stageBox,
            make('div', { class: 'bar', role: 'group', 'aria-label': 'transport' }, this.playButton,
                make('div', { class: 'time', 'aria-live': 'off' }, this.time, this.where),
                make('div', { class: 'track' }, this.scrub, this.marks),
                this.speed),
            this.side), this.help);
    }

    private makeHelp(): HTMLDialogElement {
        const line = (what: string, ...keys: string[]) => [make('dt', {}, ...keys.map((k) => make('kbd', {}, k))), make('dd', {}, what)];
        return make('dialog', { 'aria-label': 'keys' }, make('h2', {}, 'Keys'),
            make('dl', {}, ...line('play, pause', 'space'), ...line('one frame back, on; with shift ten', '←', '→'), ...line('to the beginning, the end', 'home', 'end'),
                ...line('faster, slower', '+', '−'), ...line('see the whole robot', 'f'), ...line('from the front, the side, above', '1', '2', '3'),
                ...line('the camera goes along', 'g'), ...line('light or dark', 't'), ...line('the run before, the next', '[', ']'), ...line('this list', '?')),
            make('form', { method: 'dialog' }, make('button', {}, 'close')));
    }

    private openStage(): void {
        try {
            this.stage = new Stage(this.canvas);
        } catch {
            this.stageBox.append(make('p', { class: 'problem' }, 'This browser has no WebGL, so the robot cannot be drawn; the curves beside can be seen all the same.'));
        }
        const resize = () => {
            const box = this.stageBox.getBoundingClientRect();
            this.stage?.resize(box.width, box.height);
        };
        new ResizeObserver(() => {
            resize();
            for (const p of this.plots) p.resize();
        }).observe(this.stageBox);
        new ResizeObserver(() => this.plots.forEach((p) => p.resize())).observe(this.side);
        resize();
    }

    // ---- a run

    private open(index: number): void {
        const head = this.page.runs[index];
        this.run = readRun(this.page, index);
        const { eras, told } = readScenes(head);
        this.scene = eras[0].scene;
        this.told = told;
        this.runs.selectedIndex = index;
        this.title.textContent = head.title || this.page.file || 'Sinew';
        document.title = `${head.title || this.page.file} · Sinew`;
        const state = head.state === 'finished' ? '' : ` · ${head.state}`;
        this.subtitle.textContent = `${this.page.file}${this.page.runs.length > 1 ? '' : head.name === 'main' ? '' : ` · ${head.name}`} · ${count(head.frames)} frame${head.frames === 1 ? '' : 's'}${state} · sinew ${this.page.version}, ${this.page.created.slice(0, 10)}`;
        this.player = new Player(this.run, () => (this.stale = true));
        if (head.kept === 0) {
            this.note.textContent = 'this run has no frames';
            this.side.replaceChildren();
            return;
        }
        for (const e of this.eras) e.robot.dispose();
        const era = (k: number) => eras.reduce((a, e) => (e.stage <= this.run.stage[k] ? e : a));
        this.eras = eras.map((e) => ({ stage: e.stage, robot: new Robot(this.run, e.scene, (k) => era(k) === e) }));
        this.robot = this.eras[0].robot;
        // one scale of colours for all
        for (const { robot } of this.eras) for (const q of Object.keys(robot.most) as (keyof Robot['most'])[]) this.robot.most[q] = Math.max(this.robot.most[q], robot.most[q]);
        for (const { robot } of this.eras) Object.assign(robot.most, this.robot.most);
        this.labels.replaceChildren(...this.scene.sites.map((s) => make('span', {}, s.name)));
        this.siteBox.classList.toggle('hidden', this.scene.sites.length === 0);
        this.drawnFrame = -1;
        this.offerColours();
        this.stage?.show(this.robot, this.theme);
        this.stage?.look('free');
        this.scrub.max = String(this.player.end || 1);
        this.markStages();
        this.fillSide();
        this.offerSpeed();
        this.say();
        this.stale = true;
    }

    private offerColours(): void {
        const { quantities, most } = this.robot;
        this.colour.replaceChildren(...quantities.map((q) => make('option', { value: q }, q === 'plain' ? 'one colour' : q)));
        if (!quantities.includes(this.shown.colour)) this.shown.colour = quantities[0];
        if (!(most[this.shown.colour] > 1e-7)) this.shown.colour = 'plain';
        this.colour.value = this.shown.colour;
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
            this.plots.slice(before).forEach((p) => p.draw(this.theme));
            this.drawnFrame = -1;
            this.stale = true;
        } }, `${rest.length} more`);
        this.side.replaceChildren(
            ...(probes.length ? [make('h2', {}, 'Probes'), ...first.map(plot), rest.length ? more : ''] : []),
            ...(energy ? [make('h2', {}, 'Energy'), plot(energy)] : []),
            make('h2', {}, 'Stages'), this.stageTable(),
            make('h2', {}, 'Solver'), ...solverCards(this.run).map(plot),
            make('h2', {}, 'About'), this.about());
        for (const p of this.plots) p.draw(this.theme);
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
            make('dl', {}, ...line('run', head.name), ...line('state', head.state), ...(head.message ? line('why', head.message) : []), ...line('freedoms', count(head.freedom)), ...line('nodes', count(head.nodes)),
                ...line('frames', head.kept < head.frames ? `${count(head.kept)} of ${count(head.frames)} in this page` : count(head.frames)), ...line('written', `sinew ${this.page.version}, ${this.page.created}`)),
            make('details', { class: 'text' }, make('summary', {}, 'the model'), make('pre', { tabindex: '0' }, this.page.model)));
    }

    // ---- what the user does

    private listen(): void {
        window.addEventListener('keydown', (e) => {
            if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
            const target = e.target as HTMLElement;
            const typing = target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== 'range');
            if (typing && e.key !== '?') return;
            if (e.key === ' ' && (target instanceof HTMLButtonElement || target.tagName === 'SUMMARY')) return;
            if (this.act(e.key, e.shiftKey)) e.preventDefault();
        });
        // who clicks goes on with keys of the page, not of the button
        document.addEventListener('click', (e) => {
            if (e.detail > 0) (e.target as Element).closest<HTMLElement>('button, summary')?.blur();
        });
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
            case 'f': this.look('free'); break;
            case '1': this.look('front'); break;
            case '2': this.look('side'); break;
            case '3': this.look('top'); break;
            case 'g': this.toggleFollow(); break;
            case 't': this.toggleTheme(); break;
            case '[': case ']': this.nextRun(key === ']' ? 1 : -1); break;
            case '?': this.help.showModal(); break;
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

    private look(preset: Preset): void {
        this.stage?.look(preset);
    }

    private toggleFollow(): void {
        if (!this.stage) return;
        this.stage.following = !this.stage.following;
        this.followButton.setAttribute('aria-pressed', String(this.stage.following));
    }

    private scrubbed(): void {
        this.player.playing = false;
        this.player.seek(Number(this.scrub.value));
        this.player.toFrame(this.player.frame);
    }

    private setSpeed(): void {
        this.player.speed = Number(this.speed.value);
    }

    private setColour(): void {
        this.shown.colour = this.colour.value as Quantity;
        this.say();
        this.drawnFrame = -1;
        this.stale = true;
    }

    private setShown(key: keyof Shown, on: boolean): void {
        (this.shown as unknown as Record<string, unknown>)[key] = on;
        this.say();
        this.drawnFrame = -1;
        this.stale = true;
    }

    private setGround(on: boolean): void {
        this.ground = on;
        this.stage?.showGround(on);
        this.say();
    }

    private toggleTheme(): void {
        this.setTheme(this.theme.dark ? light : dark);
    }

    private setTheme(theme: Theme): void {
        this.theme = theme;
        document.documentElement.dataset.theme = theme.dark ? 'dark' : 'light';
        this.themeButton.replaceChildren(icon(theme.dark ? 'sun' : 'moon'));
        this.stage?.dress(theme);
        for (const p of this.plots) p.draw(theme);
        this.drawnFrame = -1;
        this.stale = true;
    }

    // ---- what is said beside the robot

    private say(): void {
        const { robot, shown } = this, parts: HTMLElement[] = [];
        const ramp = (label: string, low: string, high: string) => {
            const bar = make('div', { class: 'ramp' });
            bar.style.background = scaleGradient;
            return make('div', { class: 'scale' }, label, bar, make('div', { class: 'ends' }, make('span', {}, low), make('span', {}, high)));
        };
        const or = robot.cut[shown.colour] ? '≥ ' : '';
        if (shown.colour === 'strain') parts.push(ramp('largest strain in the section', '0', `${or}${number(100 * robot.most.strain, 3)} %`));
        if (shown.colour === 'curvature') parts.push(ramp('curvature and twist', '0', or + quantity(robot.most.curvature, '1/m')));
        if (shown.colour === 'stress') parts.push(ramp('largest normal stress', '0', or + quantity(robot.most.stress, 'Pa')));
        if (shown.tendons && robot.most.effort > 0) {
            const tendons = this.scene.measures.every((m) => m.kind === 'tendon');
            parts.push(ramp(tendons ? 'tension' : 'effort', '0', quantity(robot.most.effort, tendons ? 'N' : 'Pa')));
        }
        this.legend.replaceChildren(...parts);
        const notes = [
            this.ground ? `grid ${quantity(this.stage?.cell ?? 1, 'm')}` : '',
            robot.magnified > 1.05 ? `rods drawn ${number(robot.magnified, 2)}× as thick` : '',
            this.told ? '' : 'the file does not say what the robot looks like: nodes are joined by lines',
            this.run.head.kept < this.run.head.frames ? `${count(this.run.head.kept)} of ${count(this.run.head.frames)} frames; curves keep every extreme` : '',
        ].filter(Boolean);
        this.note.textContent = notes.join(' · ');
    }

    // ---- from picture to picture

    private tick(ms: number): void {
        requestAnimationFrame((next) => this.tick(next));
        this.player.tick(ms);
        if (this.stale) this.move();
        if (!this.stage?.dirty) return;
        this.stage.draw();
        this.placeLabels();
    }

    // names of sites beside them
    private placeLabels(): void {
        this.labels.classList.toggle('hidden', !this.shown.sites);
        if (!this.shown.sites) return;
        Array.from(this.labels.children as HTMLCollectionOf<HTMLElement>).forEach((label, i) => {
            const [x, y, z] = this.robot.site(i), at = this.stage!.project(x, y, z);
            label.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
        });
    }

    // the robot as it is in the stage of a frame
    private enter(k: number): void {
        const { robot } = this.eras.reduce((a, e) => (e.stage <= this.run.stage[k] ? e : a));
        if (robot === this.robot) return;
        this.robot = robot;
        this.stage?.swap(robot);
        robot.dress(this.theme);
    }

    private move(): void {
        this.stale = false;
        if (this.run.n === 0) return;
        const k = this.player.frame, share = this.player.share, rest = this.restOf(k);
        const swings = rest >= 0 && this.player.playing;
        if (k !== this.drawnFrame || share > 0 || swings) {
            this.enter(k);
            if (rest >= 0) this.robot.update(k, this.player.swing, this.shown, this.theme, rest);
            else this.robot.update(k, share, this.shown, this.theme);
            this.stage?.follow();
            if (this.stage) this.stage.dirty = true;
        }
        // a mixture is not the frame itself
        this.drawnFrame = share > 0 || swings ? -1 : k;
        for (const p of this.plots) p.mark(k, share);
        this.showTime(k, share);
    }

    // of the shape of a mode, the configuration it belongs to: the last frame of its stage
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

    // for tests: what is shown, and where it is on the screen
    hook() {
        return {
            project: (x: number, y: number, z: number) => this.stage?.project(x, y, z) ?? null,
            state: () => ({ run: this.run.head.name, n: this.run.n, nodes: this.run.head.nodes, frame: this.player.frame, t: this.run.t[this.player.frame], playing: this.player.playing, speed: this.player.speed, theme: this.theme.dark ? 'dark' : 'light', colour: this.shown.colour, told: this.told }),
            node: (i: number) => Array.from(this.robot.poses.g.subarray(7 * i, 7 * i + 3)),
            curves: () => this.plots.map((p) => ({ title: p.card.title, unit: p.card.unit, curves: p.card.curves.length, points: p.length })),
        };
    }
}

try {
    const app = new App(readPage());
    (window as unknown as { sinew: unknown }).sinew = app.hook();
} catch (e) {
    const box = make('p', { class: 'problem', role: 'alert' }, e instanceof Error ? e.message : String(e));
    document.getElementById('app')!.append(box);
    console.error(e);
}
