// SPDX-License-Identifier: MIT
//
// View of result files within an element: the robot, playback, curves, kept at one instant; another run, of the same or of
// another file, overlaid or beside. Of a sweep: a chart of its rows, and the robots of chosen ones beside each other.
import { Actor } from './actor';
import { dark, light } from './colour';
import { nameRuns, readRun, type Arrays, type Page } from './data';
import { make } from './dom';
import { count } from './format';
import { Panel } from './panel';
import { Axis } from './plots';
import type { Film } from './save';
import { SectionCard } from './section';
import { Shell, type Keys } from './shell';
import { SweepChart } from './sweep';
import { Transport } from './transport';

const keys: Keys[] = [['play, pause', 'space'], ['one frame back, forward; ten with shift', '←', '→'], ['to the beginning, the end', 'home', 'end'], ['faster, slower', '+', '−'], ['section of a rod', 'x', 'click it']];
const runKeys: Keys[] = [['previous run, next run', '[', ']'], ['compare with the next run', 'c'], ['overlaid or side by side', 'v']];

export class View {
    private actor!: Actor;
    private other: Actor | null = null; // run to compare with
    private family: Actor[] = []; // of other rows of a sweep
    private readonly chart: SweepChart | null;
    private index = 0;
    private timed = false; // time increases in both runs
    private split = false; // side by side; else overlaid
    private stale = true; // the robot must be posed again
    private drawnFrame = -1;
    private filming = false; // frames are shown for a film
    private picture = 0; // requested animation frame
    private readonly shell: Shell;
    private readonly panel: Panel;
    private readonly section = new SectionCard(() => this.redraw());
    private readonly transport = new Transport(() => (this.stale = true));
    private readonly runs: HTMLSelectElement;
    private readonly others: HTMLSelectElement;
    private readonly splitButton = make('button', { class: 'toggle hidden', type: 'button', 'aria-pressed': 'false', title: 'overlaid or side by side (v)', onclick: () => this.setSplit(!this.split) }, 'side by side');

    // `whole`: the view is the whole document. Else `root` gives its size, and keys act while the focus is within it.
    constructor(root: HTMLElement, private page: Page, private arrays: Arrays, whole = true) {
        const several = page.runs.length > 1 && !page.sweep;
        nameRuns(page);
        this.shell = new Shell({
            redraw: () => this.redraw(),
            themed: () => {
                this.panel.draw();
                this.chart?.themed();
                this.dressFamily();
            },
            resized: () => {
                this.panel.resize();
                this.transport.placeStages();
            },
            legend: () => this.say(),
            robot: () => (this.actor.run.n > 0 ? this.actor.robot : null),
            caption: () => this.transport.caption,
            film: { live: false, moves: () => this.actor.run.n > 1, make: () => this.film() },
        }, several ? [...keys, ...runKeys] : keys, 'curves and figures');
        this.chart = page.sweep ? new SweepChart(page.sweep, () => this.shell.theme, (runs) => this.choose(runs)) : null;
        this.panel = new Panel(this.shell.side, page, () => this.shell.theme, (k) => this.seek(k), () => this.redraw());
        const names = () => page.runs.map((r) => make('option', {}, r.label));
        this.runs = make('select', { 'aria-label': 'run', onchange: () => this.open(this.runs.selectedIndex) }, ...names());
        this.others = make('select', { 'aria-label': 'compare with', onchange: () => this.compare(this.others.selectedIndex - 1) }, make('option', {}, 'none'), ...names());
        const hidden = several ? '' : 'hidden';
        this.shell.build(root, whole, [make('label', { class: hidden }, 'run', this.runs), make('label', { class: hidden }, 'and', this.others), this.splitButton], this.transport.element, this.chart?.element);
        this.shell.setTheme(this.shell.theme);
        if (this.chart) this.chart.begin();
        else this.open(Math.max(0, page.runs.findIndex((r) => r.kept > 0)));
        // who gives several files wants to see them together
        const second = page.runs.findIndex((r) => r.kept > 0 && r.file !== page.runs[this.index].file);
        if (second >= 0 && !this.chart) this.compare(second);
        this.shell.onKeys((key, shift) => this.act(key, shift));
        this.shell.onClick((ray) => {
            const hit = this.actor.robot.hitRod(ray);
            if (hit) this.section.choose(hit.link, hit.share);
        });
        this.picture = requestAnimationFrame((ms) => this.tick(ms));
    }

    dispose(): void {
        cancelAnimationFrame(this.picture);
        this.panel.clear();
        this.actor.dispose();
        this.other?.dispose();
        for (const a of this.family) a.dispose();
        this.shell.dispose();
    }

    // Another result of the same runs: camera and time stay, and the motion goes on. One that has ended begins again.
    replace(page: Page, arrays: Arrays): void {
        const { now, end, playing, speed } = this.transport.player, ended = now >= end, { name } = this.actor.run.head;
        const index = page.runs.findIndex((r) => r.name === name);
        nameRuns(page);
        this.page = this.panel.page = page;
        this.arrays = arrays;
        const options = () => page.runs.map((r) => make('option', {}, r.label));
        const other = this.others.selectedIndex;
        this.runs.replaceChildren(...options());
        this.others.replaceChildren(make('option', {}, 'none'), ...options());
        this.others.selectedIndex = other < this.others.length ? other : 0;
        this.open(Math.max(0, index), index >= 0);
        const { player } = this.transport;
        if (index >= 0) player.speed = speed;
        player.seek(ended && end > 0 ? 0 : now);
        if (playing || (ended && end > 0)) this.play();
    }

    // Play from here, or from the beginning at the end.
    play(): void {
        if (this.actor.run.n > 1 && !this.transport.player.playing) this.transport.player.toggle();
    }

    setDark(on: boolean): void {
        this.shell.setTheme(on ? dark : light);
    }

    // ---- runs

    // keep: the camera stays, for a robot of about the same size
    private open(index: number, keep = false): void {
        const size = this.actor?.robot.size ?? 0;
        const head = this.page.runs[index], run = readRun(this.page, this.arrays, index);
        this.index = index;
        this.runs.selectedIndex = index;
        const state = head.state === 'finished' ? '' : ` · ${head.state}`;
        const file = this.page.files[head.file], { sweep } = this.page;
        if (sweep) this.shell.name(sweep.title || head.title || file.name, `${file.name} · ${count(sweep.rows)} rows by method ${sweep.method} · sinew ${file.version}, ${file.created.slice(0, 10)}`);
        else this.shell.name(head.title || file.name || 'Sinew', `${file.name}${this.page.runs.length > 1 || head.name === 'main' ? '' : ` · ${head.name}`} · ${count(head.frames)} frame${head.frames === 1 ? '' : 's'}${state} · sinew ${file.version}, ${file.created.slice(0, 10)}`);
        this.transport.show(run);
        this.actor?.dispose();
        this.actor = new Actor(run);
        if (run.n === 0) {
            this.shell.remark('this run has no frames');
            this.panel.clear();
            return;
        }
        this.compare(this.others.selectedIndex - 1);
        const grown = this.actor.robot.size / size;
        this.shell.present(this.actor.robot, keep && grown > 0.6 && grown < 1.6);
        this.say();
    }

    // Rows of a sweep: the first run with its curves, the others beside it.
    private choose(runs: number[]): void {
        const before = this.actor !== undefined, kept = runs.filter((i) => this.page.runs[i].kept > 0);
        if (!kept.length) return;
        this.shell.gather([], [], []);
        for (const a of this.family) a.dispose();
        this.family = kept.slice(1).map((i) => new Actor(readRun(this.page, this.arrays, i)));
        this.open(kept[0], before);
        // one colour scale for all
        const all = [this.actor, ...this.family], { most } = this.actor;
        for (const a of this.family) for (const q of Object.keys(most) as (keyof typeof most)[]) most[q] = Math.max(most[q], a.most[q]);
        for (const a of all) a.scaleBy(most);
        this.dressFamily();
        this.shell.gather(this.family.map((a) => a.robot), all.map((a) => a.run.head.label), this.chart!.colours());
        this.shell.look('free');
        this.redraw();
    }

    private dressFamily(): void {
        for (const a of this.family) a.robot.dress(this.shell.theme);
        if (this.chart && this.family.length) this.shell.gather(this.family.map((a) => a.robot), [this.actor, ...this.family].map((a) => a.run.head.label), this.chart.colours());
    }

    // Compare with this run; -1 or the run itself: with none.
    private compare(index: number): void {
        const none = index < 0 || index === this.index || this.page.runs[index].kept === 0;
        this.others.selectedIndex = none ? 0 : index + 1;
        this.other?.dispose();
        this.other = none ? null : new Actor(readRun(this.page, this.arrays, index));
        const { actor, other } = this, most = actor.most;
        this.timed = other !== null && new Axis(actor.run).time && new Axis(other.run).time;
        // one colour scale for both
        if (other) {
            for (const q of Object.keys(most) as (keyof typeof most)[]) most[q] = Math.max(most[q], other.most[q]);
            other.scaleBy(most);
            other.robot.dress(this.shell.theme);
        }
        actor.scaleBy(most);
        this.splitButton.classList.toggle('hidden', none);
        this.section.offer(actor.robot);
        this.panel.show(actor.run, actor.scene, [...(this.chart ? [make('h2', {}, 'Rows'), this.chart.table] : []), this.section.element], other);
        this.setSplit(this.split);
        // robots of different files may have different sizes and places
        if (other && other.run.head.file !== actor.run.head.file) this.shell.look('free');
    }

    private setSplit(on: boolean): void {
        this.split = on;
        this.splitButton.setAttribute('aria-pressed', String(on));
        this.shell.beside(this.other, on, this.actor.run.head.label);
        this.say();
        this.redraw();
    }

    private redraw(): void {
        this.drawnFrame = -1;
        this.stale = true;
    }

    // ---- input of the user

    private act(key: string, shift: boolean): boolean {
        const n = this.page.runs.length;
        if (this.transport.act(key, shift)) return true;
        switch (key) {
            case '[': case ']': {
                if (this.chart) return false;
                const i = this.index + (key === ']' ? 1 : -1);
                if (i >= 0 && i < n) this.open(i);
                break;
            }
            case 'c': {
                if (this.chart) return false;
                let next = this.others.selectedIndex;
                if (next === this.index) next++;
                if (n > 1) this.compare(next < n ? next : -1);
                break;
            }
            case 'x': this.section.toggle(); break;
            case 'v': this.setSplit(!this.split); break;
            default: return false;
        }
        return true;
    }

    private seek(k: number): void {
        this.transport.player.playing = false;
        this.transport.player.toFrame(k);
    }

    // The whole run at the present speed.
    private film(): Film {
        const { player } = this.transport, { now } = player;
        this.filming = true;
        player.playing = true; // between frames poses are interpolated
        return {
            duration: player.end / player.speed,
            show: (seconds) => {
                player.now = Math.min(seconds * player.speed, player.end);
                this.redraw();
                this.move();
            },
            end: () => {
                this.filming = false;
                player.playing = false;
                player.seek(now);
            },
        };
    }

    // ---- notes

    private say(): void {
        const { run, told, robot } = this.actor;
        if (run.n === 0) return;
        this.shell.say(robot, [
            told ? '' : 'the file has no appearance of the robot: nodes are joined by lines',
            run.head.kept < run.head.frames ? `${count(run.head.kept)} of ${count(run.head.frames)} frames; curves keep every extreme` : '',
            this.other ? `${this.other.run.head.label} is ${this.split ? 'at the right' : 'transparent'}, its curves are dashed` : '',
        ]);
    }

    // ---- drawing

    private tick(ms: number): void {
        this.picture = requestAnimationFrame((next) => this.tick(next));
        if (this.filming) return;
        this.transport.player.tick(ms);
        if (this.stale) this.move();
        this.shell.draw(this.actor.robot);
    }

    private move(): void {
        this.stale = false;
        const { actor, transport, shell } = this, { run } = actor;
        if (run.n === 0) return;
        const { frame: k, share, playing, swing } = transport.player;
        const swings = playing && actor.restOf(k) >= 0, other = this.otherFrame(k, share);
        if (k !== this.drawnFrame || share > 0 || swings) {
            const before = actor.robot;
            actor.cut(this.section.link >= 0 ? { link: this.section.link, share: this.section.share } : null);
            const robot = actor.pose(k, share, swing, shell.shown, shell.theme);
            if (robot !== before) shell.stage?.swap(robot);
            if (this.other) shell.stage?.swapBeside(this.other.pose(other.k, other.share, swing, shell.shown, shell.theme));
            if (this.family.length) this.poseFamily(k, share, swing);
            shell.stage?.follow();
            if (shell.stage) shell.stage.dirty = true;
            this.section.update(robot);
        }
        // interpolated poses are not those of the frame
        this.drawnFrame = share > 0 || swings ? -1 : k;
        this.panel.mark(k, share, this.other ? other.k : -1);
        transport.showTime(k, share);
    }

    private poseFamily(k: number, share: number, swing: number): void {
        const { shell, family } = this, before = family.map((a) => a.robot);
        for (const a of family) {
            const at = this.frameOf(a, new Axis(this.actor.run).time && new Axis(a.run).time, k, share);
            a.pose(at.k, at.share, swing, shell.shown, shell.theme);
        }
        if (family.some((a, i) => a.robot !== before[i])) shell.stage?.gather(family.map((a) => a.robot));
    }

    // Frame of the other run: at the same time where time increases in both, else of the same number.
    private otherFrame(k: number, share: number): { k: number; share: number } {
        return this.other ? this.frameOf(this.other, this.timed, k, share) : { k: -1, share: 0 };
    }

    private frameOf(other: Actor, timed: boolean, k: number, share: number): { k: number; share: number } {
        const { run } = this.actor;
        if (!timed) return { k: Math.min(k, other.run.n - 1), share: 0 };
        return other.when(share > 0 ? run.t[k] + share * (run.t[k + 1] - run.t[k]) : run.t[k]);
    }

    // for tests: displayed values and their positions on the screen
    hook() {
        return {
            project: (x: number, y: number, z: number) => this.shell.stage?.project(x, y, z) ?? null,
            state: () => ({ run: this.actor.run.head.label, n: this.actor.run.n, nodes: this.actor.run.head.nodes, frame: this.transport.player.frame, t: this.actor.run.t[this.transport.player.frame], playing: this.transport.player.playing, speed: this.transport.player.speed, theme: this.shell.theme.dark ? 'dark' : 'light', colour: this.shell.shown.colour, told: this.actor.told, other: this.other?.run.head.label ?? null }),
            node: (i: number) => Array.from(this.actor.robot.poses.g.subarray(7 * i, 7 * i + 3)),
            otherNode: (i: number) => Array.from(this.other!.robot.poses.g.subarray(7 * i, 7 * i + 3)),
            sweep: () => this.chart?.hook() ?? null,
            tiles: () => [this.actor, ...this.family].map((a) => ({ run: a.run.head.label, tip: Array.from(a.robot.poses.g.subarray(7 * (a.run.head.nodes - 1), 7 * (a.run.head.nodes - 1) + 3)) })),
            curves: () => this.panel.plots.map((p) => ({ title: p.card.title, unit: p.card.unit, curves: p.card.curves.length, points: p.length })),
        };
    }
}
