// SPDX-License-Identifier: MIT
//
// One model: its text in the editor, checked and run by the engine while it is typed, its result in the viewer.
import { make } from '../../viewer/src/dom';
import { Editor, type Problem } from './editor';
import { startEngine, type Engine, type Live, type Row, type RunResult } from './engine';
import type { Frame } from './frame';
import { actuators, parameters, type Parameter } from './parameters';
import { scan } from './position';
import type { Language } from './schema';
import type { Model } from './share';
import { Sliders } from './sliders';

declare const FRAME_HTML: string; // page of the viewer, put in by build.mjs
declare const LANGUAGE: Language;

const PAUSE = 350; // ms without a key until a run begins
const SHORT = 500; // ms; a shorter run is awaited when the text changes, a longer one is cancelled
const SLOW = 6000; // ms; after such a run, typing only checks the model

export type State = 'loading' | 'running' | 'live' | 'done' | 'failed' | 'cancelled' | 'idle';

export interface Hooks {
    state(state: State, words: string): void;
    progress(fraction: number | null): void;
    runs(names: string[], chosen: string): void; // runs of the file; chosen '*': all
    expects(some: boolean): void; // the file has expected values
    edited(): void;
}

export class Session {
    readonly editor: Editor;
    readonly sliders: Sliders;
    files: Record<string, string> = {};
    result: RunResult | null = null;
    auto = true;
    story = true; // comments before a model are shown
    private readonly iframe = make('iframe', { class: 'viewer', title: 'the robot, its motion and its curves' });
    private frame: Promise<Frame>;
    private link: Live | null = null; // to a live simulation
    private engine: Promise<Engine> | null = null;
    private run = '';
    private readonly set = new Map<string, string>(); // overrides, by path
    private keep = false; // the next result is one of the same robot
    private timer = 0;
    private began = 0;
    private busy = false;
    private again = false;
    private serial = 0;
    private slow = false;
    private dark = false;
    private problems: Problem[] = [];

    constructor(editorBox: HTMLElement, sliderBox: HTMLElement, viewBox: HTMLElement, private readonly hooks: Hooks) {
        this.editor = new Editor(editorBox, LANGUAGE, () => this.edited(), () => this.start());
        this.sliders = new Sliders(sliderBox, (p, text) => this.turned(p, text));
        this.frame = this.load();
        viewBox.append(this.iframe);
    }

    // The page of the viewer, afresh.
    private load(): Promise<Frame> {
        this.keep = false;
        const loaded = new Promise<Frame>((resolve) => {
            const ready = () => {
                const inner = (this.iframe.contentWindow as unknown as { sinewFrame?: Frame }).sinewFrame;
                if (!inner) return; // the empty page before
                this.iframe.removeEventListener('load', ready);
                inner.theme(this.dark);
                resolve(inner);
            };
            this.iframe.addEventListener('load', ready);
        });
        this.iframe.srcdoc = FRAME_HTML;
        return loaded;
    }

    get model(): Model {
        return { text: this.editor.text, files: this.files };
    }

    get chosen(): string {
        return this.run;
    }

    // ---- text

    // Another model. `run`: only this run, '*': all, '': the first.
    open(model: Model, run = ''): void {
        this.files = model.files;
        this.editor.open(model.text, this.story);
        this.run = run;
        this.keep = false;
        this.slow = false;
        this.result = null;
        this.sliders.forget();
        this.set.clear();
        this.read();
        if (this.auto) this.start();
    }

    chooseRun(name: string): void {
        this.run = name;
        this.keep = false;
        this.start();
    }

    private read(): void {
        const text = this.editor.text, { entries } = scan(text);
        const moving = actuators(text, entries, this.set);
        for (const path of this.set.keys()) if (!moving.some((a) => a.path === path)) this.set.delete(path);
        this.sliders.show([...parameters(text, entries, this.sliders.ranges), ...moving]);
        const runs = entries.filter((e) => e.path.length === 2 && e.path[0] === 'runs').map((e) => String(e.path[1]));
        if (this.run !== '*' && !runs.includes(this.run)) this.run = runs[0] ?? '';
        this.hooks.runs(runs, this.run);
        this.hooks.expects(entries.some((e) => e.path[0] === 'expect'));
    }

    private turned(p: Parameter, text: string): void {
        if (p.path === undefined) {
            this.editor.change(p.from, p.to, text);
            return;
        }
        if (text) this.set.set(p.path, `${text} ${p.unit}`);
        else this.set.delete(p.path);
        this.edited();
    }

    private edited(): void {
        this.read();
        this.hooks.edited();
        if (!this.busy && !this.link) this.hooks.state('idle', '');
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.settled(), PAUSE);
    }

    // no key for a while
    private settled(): void {
        if (this.link) void this.live();
        else if (!this.auto || this.slow) void this.check();
        else this.start();
    }

    // ---- engine

    private ready(): Promise<Engine> {
        this.engine ??= startEngine();
        return this.engine;
    }

    private async check(): Promise<void> {
        if (this.busy) return;
        const engine = await this.ready(), text = this.editor.text;
        const { ok, problems } = await engine.check(text, { files: this.files });
        if (text !== this.editor.text || this.busy) return;
        this.tell(problems);
        this.hooks.state(ok ? 'idle' : 'failed', ok ? 'changed; run it again' : this.words(problems));
    }

    start(): void {
        window.clearTimeout(this.timer);
        if (this.link) this.endLive();
        if (!this.busy) void this.go();
        else if (performance.now() - this.began < SHORT) this.again = true;
        else void this.engine?.then((e) => {
            this.again = true;
            e.cancel();
        });
    }

    cancel(): void {
        if (this.link) this.endLive();
        if (!this.busy) return;
        this.again = false;
        void this.engine?.then((e) => e.cancel());
    }

    private async go(): Promise<void> {
        const serial = ++this.serial;
        this.busy = true;
        this.again = false;
        this.hooks.state(this.engine ? 'running' : 'loading', this.engine ? 'running' : 'loading the engine');
        this.hooks.progress(0);
        const text = this.editor.text, several = /[(*]/.test(this.run);
        try {
            const engine = await this.ready();
            this.began = performance.now();
            this.hooks.state('running', 'running');
            const result = await engine.run(text, {
                files: this.files, run: this.run && !several ? this.run : undefined, set: Object.fromEntries(this.set),
                onProgress: (p) => serial === this.serial && this.hooks.progress(p.total > 0 ? p.done / p.total : null),
            });
            const took = performance.now() - this.began;
            this.slow = took > SLOW;
            await this.show(result, took);
        } catch (e) {
            const words = e instanceof Error ? e.message : String(e);
            this.hooks.state(/cancel/i.test(words) ? 'cancelled' : 'failed', words);
        }
        this.hooks.progress(null);
        this.busy = false;
        if (this.again) void this.go();
    }

    // ---- live simulation

    // Simulate the model in real time, with a slider for each control, and the mouse that pulls at the robot.
    async live(): Promise<void> {
        window.clearTimeout(this.timer);
        if (this.busy) return;
        this.busy = true;
        this.hooks.state('loading', 'starting');
        try {
            const engine = await this.ready();
            this.link?.close();
            this.frame = this.load();
            let link: Live | null = null;
            const take = (await this.frame).live((message) => link?.send(message));
            link = await engine.live(this.editor.text, { files: this.files, run: this.run && !/[(*]/.test(this.run) ? this.run : undefined, onMessage: take });
            this.link = link;
            this.tell([]);
            this.hooks.state('live', 'live: pull at the robot');
        } catch (e) {
            this.link = null;
            this.busy = false;
            this.frame = this.load();
            await this.check();
            if (!this.problems.length) this.hooks.state('failed', e instanceof Error ? e.message : String(e));
        }
        this.busy = false;
    }

    private endLive(): void {
        this.link?.close();
        this.link = null;
        this.frame = this.load();
        this.hooks.state('idle', '');
    }

    private async show(result: RunResult, took: number): Promise<void> {
        this.result = result;
        this.tell(result.problems);
        if (result.page) {
            (await this.frame).show(result.page, this.keep);
            this.keep = true;
        }
        const time = took < 1000 ? `${Math.round(took)} ms` : `${(took / 1000).toFixed(1)} s`;
        this.hooks.state(result.ok ? 'done' : 'failed', result.ok ? `computed in ${time}${this.slow ? '; press Run after a change' : ''}` : this.words(result.problems));
    }

    private words(problems: Problem[]): string {
        const p = problems.find((q) => q.severity === 'error') ?? problems[0];
        return p ? `${p.line > 0 ? `line ${p.line}: ` : ''}${p.message}` : 'the run failed';
    }

    private tell(problems: Problem[]): void {
        this.problems = problems;
        this.editor.show(problems);
    }

    // Go to the first fault.
    visit(): void {
        if (this.problems[0]) this.editor.visit(this.problems[0]);
    }

    // ---- others

    theme(dark: boolean): void {
        this.dark = dark;
        void this.frame.then((f) => f.theme(dark));
    }

    get viewer(): Promise<Frame> {
        return this.frame;
    }

    async exported(kind: 'csv' | 'glb' | 'svg'): Promise<Uint8Array> {
        return (await this.ready()).exportFile(kind);
    }

    // Expected values of the file beside the computed ones.
    async verify(): Promise<Row[]> {
        window.clearTimeout(this.timer);
        this.cancel();
        while (this.busy) await new Promise((resolve) => setTimeout(resolve, 20));
        this.busy = true;
        this.hooks.state('running', 'verifying');
        try {
            const engine = await this.ready();
            const { rows, problems } = await engine.verify(this.editor.text, { files: this.files, onProgress: (p) => this.hooks.progress(p.total > 0 ? p.done / p.total : null) });
            this.tell(problems);
            const missed = rows.filter((r) => !r.pass).length, fault = rows.length === 0;
            this.hooks.state(missed || fault ? 'failed' : 'done', fault ? this.words(problems) : missed ? `${missed} of ${rows.length} values missed` : `all ${rows.length} values are as expected`);
            return rows;
        } catch (e) {
            this.hooks.state(/cancel/i.test(String(e)) ? 'cancelled' : 'failed', e instanceof Error ? e.message : String(e));
            return [];
        } finally {
            this.busy = false;
            this.hooks.progress(null);
        }
    }
}
