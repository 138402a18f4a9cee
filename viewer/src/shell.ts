// SPDX-License-Identifier: MIT
//
// Common parts of both pages: stage with camera, colours and layers, light and dark themes, the list of keys.
import type * as THREE from 'three';
import { dark, light, scaleColours, type Theme } from './colour';
import { icon, make } from './dom';
import { number, quantity } from './format';
import { readMeasured } from './measured';
import { CanvasPen, type Pen } from './pen';
import type { Robot, Shown } from './robot';
import type { Quantity } from './rod';
import type { Film, Subject } from './save';
import { SaveMenu } from './savemenu';
import { Stage, type Preset } from './stage';
import { drawTriad } from './triad';

const LABELS = 80; // names shown at most
const TRIAD = 104; // size of the axes, pixels
const FOOT = 12; // pixels below the colour scales

export type Keys = [what: string, ...keys: string[]];

export interface Hooks {
    redraw(): void; // colours or layers have changed
    themed(theme: Theme): void;
    resized(): void;
    legend(): void; // the notes beside the robot have changed
    robot(): Robot | null; // that is shown
    caption(): string; // of a picture: the time
    film: { live: boolean; moves(): boolean; make(): Film };
}

export class Shell {
    theme: Theme;
    stage: Stage | null = null;
    ground = true;
    readonly shown: Shown = { colour: 'strain', tendons: true, joints: true, forces: true, fields: true, reactions: true, trails: true, frames: false, sites: false, axes: true, measured: true };
    readonly canvas = make('canvas', { tabindex: '0', role: 'img', 'aria-label': 'the robot in three dimensions; drag to rotate it, scroll to zoom' });
    readonly stageBox = make('main', { class: 'stage' });
    readonly side: HTMLElement;
    readonly help: HTMLDialogElement;
    private readonly save: SaveMenu;
    private menus: HTMLDetailsElement[] = [];
    private root!: HTMLElement;
    private whole = true;
    private readonly ended = new AbortController();
    private readonly until = { signal: this.ended.signal }; // of listeners and observers
    private readonly title = make('h1');
    private readonly subtitle = make('p');
    private readonly legend = make('div', { class: 'legend' });
    private readonly note = make('div', { class: 'note' });
    private readonly labels = make('div', { class: 'labels', 'aria-hidden': 'true' });
    private readonly triad = make('canvas', { class: 'triad', 'aria-hidden': 'true' });
    private readonly halves = make('div', { class: 'halves hidden' });
    private readonly siteBox = make('label');
    private readonly fieldBox = make('label');
    private readonly measuredBox = make('label');
    private readonly followButton = make('button', { type: 'button', 'aria-pressed': 'false', title: 'the camera follows the robot', onclick: () => this.toggleFollow() }, 'follow');
    private readonly themeButton = make('button', { class: 'plain', type: 'button', 'aria-label': 'light or dark', title: 'light or dark (t)', onclick: () => this.toggleTheme() });
    private readonly colour = make('select', { 'aria-label': 'colour of rods', onchange: () => this.setColour() });

    constructor(private readonly hooks: Hooks, keys: Keys[], side: string) {
        const wanted = window.matchMedia('(prefers-color-scheme: dark)');
        this.theme = wanted.matches ? dark : light;
        wanted.addEventListener('change', () => this.setTheme(wanted.matches ? dark : light), this.until);
        this.side = make('aside', { class: 'side', 'aria-label': side, tabindex: '0' });
        this.help = this.makeHelp(keys);
        this.save = new SaveMenu({ subject: () => this.subject(), moves: () => hooks.film.moves(), film: () => hooks.film.make() }, hooks.film.live);
    }

    // Layout within an element, which gives the size: elements beside the title, and in the bar below the robot. `whole`: it is all
    // of the document, so that title, colours and keys of the document are its own.
    // `below`: an element under all of it.
    build(root: HTMLElement, whole: boolean, top: HTMLElement[], bar: HTMLElement, below: HTMLElement | null = null): void {
        this.root = root;
        this.whole = whole;
        const preset = (name: Preset, label: string, key: string) => make('button', { type: 'button', title: `view from there (${key})`, onclick: () => this.look(name) }, label);
        const check = (key: keyof Shown, label: string) => {
            const box = make('input', { type: 'checkbox', onchange: () => this.setShown(key, box.checked) });
            box.checked = this.shown[key] === true;
            box.dataset.show = key;
            return make('label', {}, box, label);
        };
        this.fieldBox.append(...check('fields', 'fields and magnetisation').childNodes);
        this.siteBox.append(...check('sites', 'named sites').childNodes);
        this.measuredBox.append(...check('measured', 'measured points').childNodes);
        const ground = make('input', { type: 'checkbox', checked: true, onchange: () => this.setGround(ground.checked) });
        const menu = make('details', { class: 'menu show' },
            make('summary', {}, 'show'),
            make('div', {},
                make('label', { class: 'row' }, 'rods by', this.colour),
                check('tendons', 'tendons, chambers and springs'), check('joints', 'joints'), check('forces', 'loads'), this.fieldBox, check('reactions', 'reactions of loops and ground'),
                check('trails', 'trails'), check('axes', 'axes of the world'), check('frames', 'frames of links'), this.siteBox, this.measuredBox, make('label', {}, ground, 'grid')));
        this.menus = [menu, this.save.element];
        document.addEventListener('click', (e) => this.closeMenus(e.target as Node), this.until);
        this.stageBox.append(this.canvas, this.labels, this.halves, this.triad,
            make('div', { class: 'tools' },
                make('div', { class: 'group', role: 'group', 'aria-label': 'camera' }, preset('free', 'fit', 'f'), preset('front', 'front', '1'), preset('side', 'side', '2'), preset('top', 'top', '3'), this.followButton),
                make('div', { class: 'menus' }, menu, this.save.element)),
            this.legend, this.note);
        root.append(make('div', { class: below ? 'page above' : 'page' },
            make('header', { class: 'top' }, make('div', { class: 'name' }, this.title, this.subtitle), ...top, this.themeButton,
                make('button', { class: 'plain', type: 'button', 'aria-label': 'keys', title: 'keys (?)', onclick: () => this.help.showModal() }, '?')),
            this.stageBox, bar, this.side, below), this.help);
        this.openStage();
        this.listen();
    }

    private makeHelp(keys: Keys[]): HTMLDialogElement {
        const line = ([what, ...list]: Keys) => [make('dt', {}, ...list.map((k) => make('kbd', {}, k))), make('dd', {}, what)];
        const camera: Keys[] = [['see the whole robot', 'f'], ['from the front, the side, above', '1', '2', '3'], ['the camera follows the robot', 'g'], ['light or dark', 't'], ['save a picture', 'p'], ['this list', '?']];
        return make('dialog', { 'aria-label': 'keys' }, make('h2', {}, 'Keys'),
            make('dl', {}, ...[...keys, ...camera].flatMap(line)),
            make('form', { method: 'dialog' }, make('button', {}, 'close')));
    }

    private openStage(): void {
        try {
            this.stage = new Stage(this.canvas);
        } catch {
            this.stageBox.append(make('p', { class: 'problem' }, 'This browser has no WebGL, so the robot cannot be drawn; the curves are still shown.'));
        }
        const resize = () => {
            const box = this.stageBox.getBoundingClientRect();
            this.stage?.resize(box.width, box.height);
            this.placeTiles();
        };
        const watch = new ResizeObserver(() => {
            resize();
            this.hooks.resized();
        });
        watch.observe(this.stageBox);
        watch.observe(this.side);
        this.ended.signal.addEventListener('abort', () => watch.disconnect());
        resize();
    }

    private listen(): void {
        // keys go to the page after a click, not to the button
        this.root.addEventListener('click', (e) => {
            if (e.detail > 0) (e.target as Element).closest<HTMLElement>('button, summary')?.blur();
        }, this.until);
    }

    // Keys of the page: `act` returns true for the keys it handles.
    onKeys(act: (key: string, shift: boolean) => boolean): void {
        const keys = (e: KeyboardEvent) => {
            if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
            const target = e.target as HTMLElement;
            const slides = target instanceof HTMLInputElement && target.type === 'range' && target.dataset.own !== undefined;
            const typing = slides || target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== 'range');
            if (typing && e.key !== '?') return;
            if (e.key === ' ' && (target instanceof HTMLButtonElement || target.tagName === 'SUMMARY')) return;
            if (act(e.key, e.shiftKey) || this.act(e.key)) e.preventDefault();
        };
        (this.whole ? document : this.root).addEventListener('keydown', (e) => keys(e as KeyboardEvent), this.until);
    }

    // A click on the stage that is no drag.
    onClick(act: (ray: THREE.Raycaster) => void): void {
        let down = [0, 0];
        this.canvas.addEventListener('pointerdown', (e) => (down = [e.clientX, e.clientY]));
        this.canvas.addEventListener('click', (e) => {
            if (!this.stage || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4) return;
            const box = this.canvas.getBoundingClientRect();
            act(this.stage.ray(e.clientX - box.left, e.clientY - box.top));
        });
    }

    // all but the one that contains an element
    private closeMenus(inside: Node | null = null): void {
        for (const m of this.menus) if (m.open && !m.contains(inside)) m.open = false;
    }

    private act(key: string): boolean {
        switch (key) {
            case 'f': this.look('free'); break;
            case '1': this.look('front'); break;
            case '2': this.look('side'); break;
            case '3': this.look('top'); break;
            case 'g': this.toggleFollow(); break;
            case 't': this.toggleTheme(); break;
            case 'p': this.save.picture(); break;
            case 'Escape': this.closeMenus(); break;
            case '?': this.help.showModal(); break;
            default: return false;
        }
        return true;
    }

    name(title: string, subtitle: string): void {
        this.title.textContent = title;
        if (this.whole) document.title = `${title} · Sinew`;
        this.subtitle.textContent = subtitle;
    }

    // Show this robot; keep: the camera stays.
    present(robot: Robot, keep = false): void {
        const { quantities, most } = robot;
        this.colour.replaceChildren(...quantities.map((q) => make('option', { value: q }, q === 'plain' ? 'one colour' : q)));
        if (!quantities.includes(this.shown.colour)) this.shown.colour = quantities[0];
        if (!(most[this.shown.colour] > 1e-7)) this.shown.colour = 'plain';
        this.colour.value = this.shown.colour;
        this.siteBox.classList.toggle('hidden', robot.scene.sites.length === 0);
        this.fieldBox.classList.toggle('hidden', robot.scene.fields.length === 0);
        this.measuredBox.classList.toggle('hidden', !readMeasured(robot.run).any);
        this.stage?.show(robot, this.theme);
        if (keep) return;
        this.stage?.look('free');
        if (this.stage && this.stage.following !== robot.roams) this.toggleFollow();
    }

    // A robot of another run, overlaid or beside.
    beside(other: { robot: Robot; run: { head: { label: string } } } | null, split: boolean, name: string): void {
        this.stage?.beside(other?.robot ?? null, split);
        this.halves.classList.toggle('hidden', !other || !split);
        this.halves.replaceChildren(...[name, other?.run.head.label ?? ''].map((n) => make('span', {}, n)));
        this.placeTiles();
    }

    // Robots in tiles beside the one that is presented; names and colours of all of them.
    gather(robots: Robot[], names: string[], colours: string[]): void {
        this.stage?.gather(robots);
        this.halves.classList.toggle('hidden', robots.length === 0);
        this.halves.classList.add('tiles');
        this.halves.replaceChildren(...names.map((n, i) => {
            const name = make('span', {}, n);
            name.style.color = colours[i];
            return name;
        }));
        this.placeTiles();
    }

    // Names of tiles lie where the stage has them; tiles of rows end above the colour scales.
    private placeTiles(): void {
        const { stage, halves } = this;
        if (!stage || halves.classList.contains('hidden')) return;
        const box = this.stageBox.getBoundingClientRect(), scales = halves.classList.contains('tiles') ? this.legend.offsetHeight : 0;
        const foot = scales && box.height ? Math.min((scales + 2 * FOOT) / box.height, 0.3) : 0;
        stage.leave(foot);
        halves.style.bottom = `${100 * foot}%`;
        const tiles = stage.tiles(box.width, box.height);
        halves.style.gridTemplateColumns = `repeat(${tiles.filter((t) => t.y === 0).length}, 1fr)`;
        Array.from(halves.children).forEach((half, i) => half.classList.toggle('upper', tiles[i]?.y === 0));
    }

    // Draw if needed, with names of frames and sites and the axes.
    draw(robot: Robot): void {
        const { stage, shown } = this;
        if (!stage?.dirty) return;
        stage.draw();
        const names = robot.names(shown).slice(0, LABELS), { children } = this.labels;
        while (children.length > names.length) children[children.length - 1].remove();
        while (children.length < names.length) this.labels.append(make('span'));
        names.forEach(({ name, at: [x, y, z] }, i) => {
            const at = stage.project(x, y, z), label = children[i] as HTMLElement;
            if (label.textContent !== name) label.textContent = name;
            label.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
        });
        this.drawAxes(stage);
    }

    private drawAxes(stage: Stage): void {
        const { triad } = this, pixels = Math.min(window.devicePixelRatio || 1, 2), width = Math.round(TRIAD * pixels);
        triad.classList.toggle('hidden', !this.shown.axes);
        if (!this.shown.axes) return;
        if (triad.width !== width) triad.width = triad.height = width;
        const to = triad.getContext('2d')!;
        to.setTransform(pixels, 0, 0, pixels, 0, 0);
        to.clearRect(0, 0, TRIAD, TRIAD);
        drawTriad(new CanvasPen(to), stage.camera, TRIAD / 2, TRIAD / 2, 0.28 * TRIAD, this.theme, stage.slant);
    }

    look(preset: Preset): void {
        this.stage?.look(preset);
    }

    toggleFollow(): void {
        if (!this.stage) return;
        this.stage.following = !this.stage.following;
        this.followButton.setAttribute('aria-pressed', String(this.stage.following));
    }

    private setColour(): void {
        this.shown.colour = this.colour.value as Quantity;
        this.hooks.legend();
        this.hooks.redraw();
    }

    private setShown(key: keyof Shown, on: boolean): void {
        (this.shown as unknown as Record<string, unknown>)[key] = on;
        this.hooks.legend();
        this.hooks.redraw();
    }

    private setGround(on: boolean): void {
        this.ground = on;
        this.stage?.showGround(on);
        this.hooks.legend();
    }

    toggleTheme(): void {
        this.setTheme(this.theme.dark ? light : dark);
    }

    setTheme(theme: Theme): void {
        this.theme = theme;
        (this.whole ? document.documentElement : this.root).dataset.theme = theme.dark ? 'dark' : 'light';
        this.themeButton.replaceChildren(icon(theme.dark ? 'sun' : 'moon'));
        this.stage?.dress(theme);
        this.hooks.themed(theme);
        this.hooks.redraw();
    }

    // Colour scales, from zero to a largest value.
    private scales(robot: Robot): [label: string, high: string][] {
        const { shown } = this, or = robot.cut[shown.colour] ? '≥ ' : '', out: [string, string][] = [];
        if (shown.colour === 'strain') out.push(['largest strain in the section', `${or}${number(100 * robot.most.strain, 3)} %`]);
        if (shown.colour === 'curvature') out.push(['curvature and twist', or + quantity(robot.most.curvature, '1/m')]);
        if (shown.colour === 'stress') out.push(['largest normal stress', or + quantity(robot.most.stress, 'Pa')]);
        if (shown.tendons && robot.most.effort > 0) {
            const tendons = robot.scene.measures.every((m) => m.unit === 'N');
            out.push([tendons ? 'tension' : 'effort', quantity(robot.most.effort, tendons ? 'N' : 'Pa')]);
        }
        return out;
    }

    private subject(): Subject | null {
        const { stage } = this, robot = this.hooks.robot();
        if (!stage || !robot) return null;
        const name = (this.title.textContent ?? '').replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_|_$/g, '').slice(0, 80) || 'sinew';
        return { stage, name, sky: [this.theme.sky, this.theme.floor], overlay: (pen, width, height) => this.overlay(pen, stage, this.hooks.robot() ?? robot, width, height) };
    }

    // What a picture has besides the robot: names, axes, scales, the time.
    private overlay(pen: Pen, stage: Stage, robot: Robot, width: number, height: number): void {
        const style = getComputedStyle(this.stageBox), [ink, soft] = ['--ink', '--soft'].map((c) => style.getPropertyValue(c).trim());
        for (const { name, at: [x, y, z] } of robot.names(this.shown).slice(0, LABELS)) {
            const at = stage.project(x, y, z);
            pen.text(at.x + 10, at.y - 6, name, ink, 12);
        }
        const tiles = stage.tiles(width, height);
        const left = this.halves.classList.contains('tiles');
        if (!this.halves.classList.contains('hidden')) Array.from(this.halves.children).forEach((half, i) => pen.text(tiles[i].x + (left ? 12 : tiles[i].width / 2), tiles[i].y + 24, half.textContent ?? '', (half as HTMLElement).style.color || soft, 13, left ? 'start' : 'middle', true));
        if (this.shown.axes) drawTriad(pen, stage.camera, width - TRIAD / 2 - 6, height - TRIAD / 2 - 30, 0.28 * TRIAD, this.theme, stage.slant);
        this.scales(robot).reverse().forEach(([label, high], i) => {
            const y = height - 30 - 46 * i;
            pen.text(16, y - 6, label, soft, 12);
            pen.ramp(16, y, 190, 7, scaleColours);
            pen.text(16, y + 20, '0', soft, 11.5);
            pen.text(206, y + 20, high, soft, 11.5, 'end');
        });
        pen.text(width - 16, height - 12, this.hooks.caption(), ink, 13, 'end', true);
    }

    // Notes beside the robot: colour scales, notes of the drawing, notes of the page.
    say(robot: Robot, notes: string[]): void {
        this.legend.replaceChildren(...this.scales(robot).map(([label, high]) => {
            const bar = make('div', { class: 'ramp' });
            bar.style.background = `linear-gradient(90deg, ${scaleColours.join(', ')})`;
            return make('div', { class: 'scale' }, label, bar, make('div', { class: 'ends' }, make('span', {}, '0'), make('span', {}, high)));
        }));
        this.placeTiles();
        const drawing = [
            this.ground ? `grid ${quantity(this.stage?.cell ?? 1, 'm')}` : '',
            robot.scene.gravity.every((x) => x === 0) && this.stage ? 'no gravity' : '',
            robot.magnified > 1.05 ? `rods drawn ${number(robot.magnified, 2)}× as thick` : '',
        ];
        this.remark([...drawing, ...notes].filter(Boolean).join(' · '));
    }

    // Remove it from the document.
    dispose(): void {
        this.ended.abort();
        this.stage?.dispose();
        this.root.replaceChildren();
    }

    remark(text: string): void {
        this.note.textContent = text;
    }
}
