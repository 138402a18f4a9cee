// SPDX-License-Identifier: MIT
//
// Section of a rod at a station: its drawing with dimensions and normal stress, strains, internal moment and force.
import { make } from './dom';
import { number, quantity, settled } from './format';
import type { Robot } from './robot';

// State of a rod at a station; strains in the order twist, bend y, bend z, stretch, shear y, shear z.
export interface SectionState {
    x: number;
    rectangle: boolean;
    half: [number, number]; // along y and z, m; 0: unknown
    hole: number; // bore over width
    strain: number[];
    rest: number[];
    stiffness: number[];
    free: boolean[]; // its stress follows from elasticity
    radius: number; // as drawn, m
    pose: Float64Array; // x y z qw qx qy qz
    noise: number[]; // of the strains, since a page has poses in single precision
}

const names = ['twist, 1/m', 'bend_y, 1/m', 'bend_z, 1/m', 'stretch', 'shear_y', 'shear_z'];
const forces = ['Mx', 'My', 'Mz', 'Nx', 'Ny', 'Nz'];

export interface Stress {
    mean: number; // Pa, of the stretch
    dy: number; // Pa/m, along y and z
    dz: number;
    low: number; // smallest and largest in the section, Pa
    high: number;
}

// Normal stress E (e + k_y z - k_z y), with the modulus from the stiffness in bending, E I_y, or stretching, E A. Null: its section
// has no known shape, or its stress is not elastic.
export function normalStress(s: SectionState): Stress | null {
    const [y, z] = s.half;
    if (!(y > 0 && z > 0) || !(s.free[1] || s.free[2] || s.free[3]) || !(s.stiffness[1] > 0)) return null;
    const area = (s.rectangle ? 4 : Math.PI) * y * z * (1 - s.hole ** 2), moment = (s.rectangle ? 4 / 3 : Math.PI / 4) * y * z ** 3 * (1 - s.hole ** 4);
    const young = s.stiffness[1] / moment, axial = s.stiffness[3] > 0 ? s.stiffness[3] / area : young, e = s.strain.map((x, i) => x - s.rest[i]);
    // a section that cannot stretch or bend carries a stress that strains do not show
    const mean = s.free[3] ? axial * e[3] : 0, dz = s.free[1] ? young * e[1] : 0, dy = s.free[2] ? -young * e[2] : 0;
    const reach = s.rectangle ? Math.abs(dy * y) + Math.abs(dz * z) : Math.hypot(dy * y, dz * z);
    return { mean, dy, dz, low: mean - reach, high: mean + reach };
}

const svgNames = 'http://www.w3.org/2000/svg';

function svg(tag: string, attributes: Record<string, string | number>, ...children: (SVGElement | string)[]): SVGElement {
    const e = document.createElementNS(svgNames, tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
    e.append(...children);
    return e;
}

// blue under pressure, red under tension
function tint(share: number): string {
    const x = Math.min(Math.max(share, -1), 1), end = x < 0 ? [58, 104, 178] : [196, 62, 52], f = Math.abs(x);
    return `rgb(${end.map((c) => Math.round(236 + f * (c - 236))).join(' ')})`;
}

let drawings = 0; // each has a gradient of its own name

const SIZE = 240, WIDE = 118; // of the drawing and of the section in it, pixels

// Seen from the tip: y to the right, z upwards.
function drawing(s: SectionState, stress: Stress | null): SVGElement {
    const [y, z] = s.half, scale = WIDE / 2 / Math.max(y, z), a = y * scale, b = z * scale, c = SIZE / 2 - 12;
    const contour = (f: number) => (s.rectangle ? `M${c - f * a} ${c - f * b}h${2 * f * a}v${2 * f * b}h${-2 * f * a}z` : `M${c - f * a} ${c}a${f * a} ${f * b} 0 1 0 ${2 * f * a} 0a${f * a} ${f * b} 0 1 0 ${-2 * f * a} 0z`);
    const out = svg('svg', { viewBox: `0 0 ${SIZE} ${SIZE}`, class: 'section', role: 'img', 'aria-label': 'section with its dimensions and normal stress' });
    let fill = 'var(--hover)';
    const peak = stress ? Math.max(Math.abs(stress.low), Math.abs(stress.high)) : 0;
    if (stress && peak > 0) {
        // along the gradient of the stress, over the extent of the section
        const steep = Math.hypot(stress.dy, stress.dz), uy = steep > 0 ? stress.dy / steep : 1, uz = steep > 0 ? stress.dz / steep : 0, r = steep > 0 ? ((stress.high - stress.low) / 2 / steep) * scale : a;
        const id = `sinew-stress-${drawings++}`, g = svg('linearGradient', { id, gradientUnits: 'userSpaceOnUse', x1: c - r * uy, y1: c + r * uz, x2: c + r * uy, y2: c - r * uz });
        for (let i = 0; i <= 8; i++) g.append(svg('stop', { offset: i / 8, 'stop-color': tint((stress.low + (i / 8) * (stress.high - stress.low)) / peak) }));
        out.append(g);
        fill = `url(#${id})`;
        // neutral axis: no stress
        const away = steep > 0 ? (-stress.mean / steep) * scale : Infinity;
        if (Math.abs(away) < r) out.append(svg('path', { d: `M${c + away * uy - 74 * uz} ${c - away * uz - 74 * uy}L${c + away * uy + 74 * uz} ${c - away * uz + 74 * uy}`, class: 'neutral' }, svg('title', {}, 'neutral axis')));
    }
    out.prepend(svg('path', { d: contour(1) + (s.hole > 0 ? contour(s.hole) : ''), 'fill-rule': 'evenodd', fill, class: 'contour' }));
    const text = (x: number, at: number, words: string, anchor = 'middle') => out.append(svg('text', { x, y: at, 'text-anchor': anchor }, words));
    const measure = (d: string) => out.append(svg('path', { d, class: 'measure' }));
    const round = !s.rectangle && Math.abs(y - z) < 1e-6 * z, bore = s.hole > 0 ? `, bore ${quantity(2 * s.hole * y, 'm')}${round ? '' : ` × ${quantity(2 * s.hole * z, 'm')}`}` : '';
    measure(`M${c - a} ${c + b + 5}v13m0 -4h${2 * a}m0 4v-13`);
    text(c, c + b + 31, `${round ? '⌀ ' : ''}${quantity(2 * y, 'm')}${bore}`);
    if (!round) {
        measure(`M${c + a + 5} ${c - b}h13m-4 0v${2 * b}m4 0h-13`);
        text(c + a + 23, c + 4, quantity(2 * z, 'm'), 'start');
    }
    out.append(svg('path', { d: `M14 ${SIZE - 14}h26m-5 -3l5 3l-5 3M14 ${SIZE - 14}v-26m-3 5l3 -5l3 5`, class: 'measure' }));
    text(48, SIZE - 10, 'y');
    text(14, SIZE - 45, 'z');
    return out;
}

// Card with the section of a chosen rod at a chosen station.
export class SectionCard {
    readonly element = make('section', { class: 'card hidden', 'aria-label': 'section' });
    private readonly rod = make('select', { 'aria-label': 'rod', onchange: () => this.choose(Number(this.rod.value), this.share) });
    private readonly station = make('input', { type: 'range', min: 0, max: 1, step: 'any', 'aria-label': 'station along the rod', 'data-own': '', oninput: () => this.choose(this.link, this.station.valueAsNumber) });
    private readonly where = make('output');
    private readonly body = make('div');
    private drawn = '';
    link = -1; // index of the link; -1: closed
    share = 0.5; // of its length

    // `changed`: another section was chosen
    constructor(private readonly changed: () => void) {
        this.element.append(make('header', {}, make('h3', {}, 'section'), this.where, make('button', { class: 'plain close', type: 'button', 'aria-label': 'close the section', title: 'close (x)', onclick: () => this.choose(-1, 0) }, '×')),
            make('div', { class: 'pick' }, this.rod, this.station), this.body);
    }

    // the rods of a robot
    offer(robot: Robot): void {
        const rods = robot.scene.links.flatMap((l, i) => (l.rod ? [{ name: l.name, i }] : []));
        this.rod.replaceChildren(...rods.map((r) => make('option', { value: r.i }, r.name)));
        if (!rods.some((r) => r.i === this.link)) this.choose(-1, 0);
    }

    choose(link: number, share: number): void {
        this.link = link;
        this.share = Math.min(Math.max(share, 0), 1);
        this.element.classList.toggle('hidden', link < 0);
        this.rod.value = String(link);
        this.station.value = String(this.share);
        this.changed();
    }

    toggle(): void {
        this.choose(this.link < 0 && this.rod.options.length ? Number(this.rod.options[0].value) : -1, 0.5);
    }

    // values at the pose of the robot
    update(robot: Robot): void {
        const s = this.link >= 0 ? robot.section(this.link, this.share) : null;
        if (!s) return;
        const length = robot.scene.links[this.link].rod!.length, stress = normalStress(s);
        this.where.textContent = `x = ${quantity(s.x, 'm')}${length > 0 ? `, ${number((100 * s.x) / length, 3)} %` : ''}`;
        this.station.setAttribute('aria-valuetext', this.where.textContent);
        const shape = s.half[0] > 0 && s.half[1] > 0;
        const curved = s.rest.some((r, i) => Math.abs(r - (i === 3 ? 1 : 0)) > 1e-12);
        const cells = names.map((name, i) => {
            const excess = s.strain[i] - s.rest[i], value = (x: number) => number(settled(x, 1e12 * s.noise[i]), i < 3 ? 4 : 5);
            const unit = i < 3 ? 'N*m' : 'N', small = Math.abs(excess) < s.noise[i];
            // strains that the rod cannot have carry reactions, which elasticity does not give
            const force = !s.free[i] || !(s.stiffness[i] > 0) ? '–' : small ? `< ${quantity(s.stiffness[i] * s.noise[i], unit, 1)}` : quantity(s.stiffness[i] * excess, unit, 4);
            return [name, value(s.strain[i]), ...(curved ? [value(s.rest[i])] : []), `${forces[i]} ${force}`];
        });
        const key = JSON.stringify([cells, stress]);
        if (key === this.drawn) return;
        this.drawn = key;
        this.body.replaceChildren(...(shape ? [drawing(s, stress)] : [make('p', { class: 'soft' }, 'the section has no known shape')]),
            ...(stress ? [make('p', { class: 'soft' }, `normal stress ${quantity(stress.low, 'Pa')} to ${quantity(stress.high, 'Pa')}`)] : []),
            make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, make('tr', {}, ...['strain', 'now', ...(curved ? ['at rest'] : []), 'elastic'].map((h) => make('th', { scope: 'col' }, h)))),
                make('tbody', {}, ...cells.map((row) => make('tr', {}, ...row.map((c) => make('td', {}, c))))))));
    }
}
