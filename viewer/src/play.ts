// SPDX-License-Identifier: MIT
//
// Page of a live simulation: the robot in its present state, a slider for each control, a clock.
import { dark, light } from './colour';
import { Controls } from './controls';
import { icon, make } from './dom';
import { count, number, quantity } from './format';
import { Past, Present, type Hello, type State } from './live';
import { Axis, Plot, probeCards, type Card } from './plots';
import { Pull } from './pull';
import { Robot } from './robot';
import { readScenes, type Scene } from './scene';
import { Shell } from './shell';
import { Trails } from './trail';
import { Wire, type Link, type Listener } from './wire';

const CARDS = 12; // of curves
const ROOM = 0.35; // margin around the robot, relative to its size
const speeds = [1, 0.5, 0.2, 0.1, 0.05, 0.02];

export class Play {
    private hello: Hello | null = null;
    private state: State | null = null;
    private now!: Present;
    private past!: Past;
    private scene!: Scene;
    private robot: Robot | null = null;
    private trails: Trails | null = null;
    private pull: Pull | null = null;
    private controls: Controls | null = null;
    private plots: Plot[] = [];
    private fresh = false; // a received frame has not been drawn yet
    private stale = true;
    private refreshed = 0; // ms
    private counted = { since: 0, came: 0, drawn: 0 };
    private rate = { came: 0, drawn: 0 }; // 1/s
    private quiet = 0;
    private readonly shell = new Shell({
        redraw: () => (this.stale = true),
        themed: (theme) => {
            this.plots.forEach((p) => p.draw(theme));
            this.trails?.dress(theme);
        },
        resized: () => this.plots.forEach((p) => p.resize()),
        legend: () => this.say(),
        robot: () => this.robot,
        caption: () => this.time.textContent ?? '',
        film: { live: true, moves: () => true, make: () => ({ duration: Infinity, show: () => undefined, end: () => undefined }) },
    }, [['pause, continue', 'space'], ['one step, while paused', '→'], ['reset', 'r'], ['record, end the recording', 'w'], ['pull at the robot', 'drag it'], ['turn the camera', 'drag beside it']], 'controls and curves');
    private readonly playButton = make('button', { class: 'round', type: 'button', onclick: () => this.togglePause() });
    private readonly stepButton = make('button', { class: 'plain', type: 'button', 'aria-label': 'one step', title: 'one step (→)', onclick: () => this.wire.send({ do: 'step' }) }, icon('step'));
    private readonly resetButton = make('button', { class: 'plain', type: 'button', 'aria-label': 'reset', title: 'reset (r)', onclick: () => this.wire.send({ do: 'reset' }) }, icon('reset'));
    private readonly recordButton = make('button', { class: 'plain record', type: 'button', 'aria-pressed': 'false', onclick: () => this.toggleRecord() }, icon('record'));
    private readonly time = make('b');
    private readonly pace = make('small');
    private readonly role = make('span', { class: 'role hidden' });
    private readonly speed = make('select', { 'aria-label': 'speed of the clock', onchange: () => this.wire.send({ do: 'speed', value: Number(this.speed.value) }) });
    private readonly strength = make('input', { type: 'range', min: -1, max: 2, step: 'any', value: 0, 'aria-label': 'strength of the pull', 'data-own': '', oninput: () => this.setStrength() });
    private readonly strengthText = make('output', {}, '1×');
    private readonly words = make('div', { class: 'words hidden', role: 'status' });
    private readonly problem = make('p', { class: 'problem hidden', role: 'alert' });
    private readonly figures = make('dl');
    private readonly wire: Link;

    // `connect`: the way to the simulation, by the address of the page unless given
    constructor(root: HTMLElement, connect: (listener: Listener) => Link = (listener) => new Wire(listener)) {
        for (const s of speeds) this.speed.append(make('option', { value: s }, s === 1 ? 'real time' : `${number(s)}×`));
        this.shell.build(root, true, [this.role], make('div', { class: 'bar', role: 'group', 'aria-label': 'clock' }, this.playButton, this.stepButton, this.resetButton,
            make('div', { class: 'time left', 'aria-live': 'off' }, this.time, this.pace), this.words,
            this.recordButton, this.speed));
        this.shell.stageBox.append(this.problem);
        this.shell.setTheme(this.shell.theme);
        this.shell.name('Sinew', 'waiting for the simulation');
        this.wire = connect({
            hello: (h) => this.meet(h),
            state: (s) => this.stand(s),
            note: (n) => this.speak(n.words),
            frame: (b) => this.arrive(b),
            lost: (forGood) => this.lose(forGood),
        });
        if (this.shell.stage) this.pull = new Pull(this.shell.stage, this.shell.stageBox, this.shell.canvas, this.wire);
        this.shell.onKeys((key) => this.act(key));
        requestAnimationFrame((ms) => this.tick(ms));
    }

    setDark(on: boolean): void {
        this.shell.setTheme(on ? dark : light);
    }

    // ---- messages

    private meet(h: Hello): void {
        this.problem.classList.add('hidden');
        this.hello = h;
        this.now = new Present(h);
        this.past = new Past(h);
        this.scene = readScenes(this.now.run.head).eras[0].scene;
        this.shell.name(h.title || h.file, `${h.file}${h.run === 'main' ? '' : ` · ${h.run}`} · live, steps of ${quantity(h.step, 's')} · sinew ${h.version}`);
        this.robot = null; // created with the first frame
        this.fresh = false;
        this.shell.side.classList.add('live');
        this.controls = new Controls(h.controls, this.wire);
        this.fillSide(h);
    }

    private stand(s: State): void {
        const before = this.state;
        this.state = s;
        this.controls?.stand(s.wanted, s.writer);
        if (this.pull) this.pull.allowed = s.writer;
        for (const b of [this.playButton, this.stepButton, this.resetButton, this.recordButton, this.speed]) b.disabled = !s.writer;
        this.stepButton.disabled ||= !s.paused;
        const playing = s.paused ? 'play' : 'pause';
        this.playButton.replaceChildren(icon(playing));
        this.playButton.setAttribute('aria-label', playing);
        this.playButton.title = `${playing} (space)`;
        this.recordButton.setAttribute('aria-pressed', String(s.recording !== null));
        this.recordButton.replaceChildren(icon(s.recording ? 'stop' : 'record'));
        this.recordButton.setAttribute('aria-label', s.recording ? 'end the recording' : 'record');
        this.recordButton.title = s.recording ? `recording to ${s.recording}: end it (w)` : 'record to a result file (w)';
        if (s.recording && !before?.recording) this.speak(`recording to ${s.recording}`);
        this.speed.value = String(speeds.reduce((a, b) => (Math.abs(b - s.speed) < Math.abs(a - s.speed) ? b : a)));
        this.role.classList.toggle('hidden', s.writer);
        this.role.textContent = 'watching';
        this.role.title = 'another window controls the robot; when it is closed, this one takes over';
        this.stale = true;
    }

    private speak(words: string): void {
        this.words.textContent = words;
        this.words.classList.remove('hidden');
        window.clearTimeout(this.quiet);
        this.quiet = window.setTimeout(() => this.words.classList.add('hidden'), 8000);
    }

    private lose(forGood: boolean): void {
        this.problem.textContent = forGood ? 'The simulation has ended. Start sinew play again and open the address that it prints.' : 'The connection to the simulation is lost; reconnecting …';
        this.problem.classList.remove('hidden');
        this.controls?.stand([], false);
        if (this.pull) this.pull.allowed = false;
        if (this.state) this.state.writer = false;
    }

    // ---- panels

    private fillSide(h: Hello): void {
        for (const p of this.plots) p.destroy();
        const axis = new Axis(this.past.run, true);
        const cards = probeCards(this.past.run, this.scene).slice(0, CARDS);
        const energy: Card = { title: 'energy', unit: 'J', curves: ['kinetic', 'elastic', 'gravity', 'work'].map((name) => ({ name, from: this.past.run.energy, column: h.energy.indexOf(name) })).filter((c) => c.column >= 0) };
        this.plots = [...cards, energy].map((c) => new Plot(c, this.past.run, axis, () => undefined));
        const curves = this.plots.slice(0, -1).map((p) => p.element);
        this.shell.side.replaceChildren(...this.controls!.elements,
            make('section', { class: 'card knobs' }, make('div', { class: 'knob' }, make('span', { class: 'what' }, 'pull of the mouse'), this.strengthText, this.strength)),
            ...(curves.length ? [make('h2', {}, 'Probes'), ...curves] : []),
            make('h2', {}, 'Energy'), this.plots[this.plots.length - 1].element,
            make('h2', {}, 'About'), make('section', { class: 'card' }, this.figures,
                make('details', { class: 'text' }, make('summary', {}, 'the model'), make('pre', { tabindex: '0' }, h.model))));
        for (const p of this.plots) p.draw(this.shell.theme);
        this.setStrength();
    }

    private say(): void {
        if (this.robot) this.shell.say(this.robot, ['drag the robot to pull at it']);
    }

    private about(): void {
        const { hello, state, now } = this;
        if (!hello) return;
        const line = (name: string, value: string) => [make('dt', {}, name), make('dd', {}, value)];
        this.figures.replaceChildren(...line('frames', `${count(Math.round(this.rate.came))} per second, ${count(Math.round(this.rate.drawn))} drawn`), ...line('step', `${quantity(hello.step, 's')}, computed in ${quantity(now.step, 's', 2)}`),
            ...line('degrees of freedom', count(hello.freedom)), ...line('nodes', count(hello.nodes)), ...line('windows', count(state?.clients ?? 1)));
    }

    // ---- input of the user

    private act(key: string): boolean {
        switch (key) {
            case ' ': this.togglePause(); break;
            case 'ArrowRight': this.wire.send({ do: 'step' }); break;
            case 'r': this.wire.send({ do: 'reset' }); break;
            case 'w': this.toggleRecord(); break;
            default: return false;
        }
        return true;
    }

    private togglePause(): void {
        this.wire.send({ do: 'pause', on: !this.state?.paused });
    }

    private toggleRecord(): void {
        this.wire.send({ do: 'record', on: !this.state?.recording });
    }

    private setStrength(): void {
        const x = 10 ** this.strength.valueAsNumber;
        if (this.pull) this.pull.strength = x;
        this.strengthText.textContent = `${number(x, 2)}×`;
        this.strength.style.setProperty('--at', `${(100 * (this.strength.valueAsNumber + 1)) / 3}%`);
    }

    // ---- drawing

    private tick(ms: number): void {
        requestAnimationFrame((next) => this.tick(next));
        this.measure(ms);
        if (this.fresh) this.move();
        if (this.robot && this.stale) this.draw();
        if (this.robot) this.shell.draw(this.robot);
        if (ms - this.refreshed > 120) this.refresh(ms);
    }

    private measure(ms: number): void {
        const span = (ms - this.counted.since) / 1000;
        if (span < 1) return;
        this.rate = { came: this.counted.came / span, drawn: this.counted.drawn / span };
        this.counted = { since: ms, came: 0, drawn: 0 };
        this.about();
    }

    // called for each received frame, drawn or not
    private arrive(bytes: ArrayBuffer): void {
        if (!this.hello || !this.now.take(bytes)) return;
        this.counted.came++;
        this.past.add(this.now);
        this.trails?.add(this.now);
        this.pull?.flush();
        this.fresh = true;
    }

    private move(): void {
        this.fresh = false;
        this.controls?.show(this.now.controls);
        if (!this.robot) this.present();
        this.counted.drawn++;
        this.stale = true;
    }

    private present(): void {
        const robot = (this.robot = new Robot(this.now.run, this.scene, ROOM));
        this.shell.shown.colour = 'strain';
        this.shell.present(robot);
        this.trails?.dispose();
        this.trails = new Trails(this.now, this.scene);
        this.trails.dress(this.shell.theme);
        robot.group.add(this.trails.group);
        this.pull?.show(robot);
        this.say();
    }

    private draw(): void {
        const robot = this.robot!, { shown, theme, stage } = this.shell;
        this.stale = false;
        robot.update(0, 0, shown, theme);
        this.trails?.show(shown.trails);
        this.pull?.update(this.now, robot, theme);
        stage?.follow();
        if (stage) stage.dirty = true;
        this.showClock();
    }

    private showClock(): void {
        const { now, state } = this;
        this.time.textContent = `${now.t.toFixed(2).replace('-', '−')} s`;
        const slow = !state?.paused && now.speed < 0.95 * now.wanted;
        const pace = state?.failed ? 'stopped' : state?.paused ? 'paused' : slow || now.wanted < 1 ? `${number(slow ? now.speed : now.wanted, 2)} × real time` : 'real time';
        if (this.pace.textContent !== pace) this.pace.textContent = pace;
        this.pace.classList.toggle('warn', slow || state?.failed === true);
        this.pace.title = slow ? 'computing a step takes longer than its length, so the clock is slowed down' : '';
    }

    private refresh(ms: number): void {
        this.refreshed = ms;
        if (!this.robot) return;
        if (this.robot.grow()) {
            this.say();
            this.stale = true;
        }
        const last = this.past.run.n - 1;
        if (last < 0) return;
        for (const p of this.plots) {
            p.refresh();
            p.mark(last, 0);
        }
    }

    // for tests: displayed values and their positions on the screen
    hook() {
        return {
            project: (x: number, y: number, z: number) => this.shell.stage?.project(x, y, z) ?? null,
            state: () => ({ ready: this.hello !== null && this.now.serial > 0, shown: this.robot !== null, lost: !this.problem.classList.contains('hidden'), ...this.state, t: this.now?.t, pace: this.now?.speed, step: this.now?.step, serial: this.now?.serial ?? 0, rate: this.rate, pulled: this.now?.node ?? -1, nodes: this.hello?.nodes ?? 0, points: this.past?.run.n ?? 0 }),
            controls: () => this.hello?.controls.map((c, i) => ({ ...c, now: this.now.controls[i] })) ?? [],
            node: (i: number) => Array.from(this.robot!.poses.g.subarray(7 * i, 7 * i + 3)),
            column: (name: string) => this.now.columns[this.hello!.columns.findIndex((c) => `${c.probe}.${c.component}` === name)],
            raw: (data: string | ArrayBuffer) => this.wire.raw(data),
        };
    }
}
