// SPDX-License-Identifier: MIT
//
// Appearance of the robot from the result file; a file without a scene gets lines through its nodes.
import type { RunHead } from './data';

export interface RodScene {
    root: number;
    first: number;
    count: number;
    length: number;
    fed: boolean;
    rectangle: boolean; // its contour; else an ellipse
    x: number[];
    half: number[][]; // half widths along y and z (zero: unknown), bore over width
    rest: number[][];
    stiffness: number[][];
    free: boolean[]; // of each strain: its stress follows from elasticity
}

// A solid in its own axes.
export interface SolidScene {
    kind: string;
    radius: number;
    section: number;
    size: number[]; // full widths; along z 0: endless
    vertices: number[]; // of a height field, mesh or hull: coordinates, and three vertices of each triangle
    faces: number[];
}

export interface ShapeScene extends SolidScene {
    at: number[]; // in the frame of the link
    turn: number[]; // qw qx qy qz
}

export interface BodyScene {
    shape: string; // box, cylinder or sphere about the centre of mass; none; several
    shapes: ShapeScene[];
    size: number[];
    axis: number[];
    com: number[];
    mass: number;
    inertia: number[];
    switch: number;
}

export interface LinkScene {
    name: string;
    parent: number;
    joint: string;
    symbol: string; // symbol of its joint: pin, rail, ball, clamp
    slides: boolean; // its joint slides: a bar is drawn along its axis
    roams: boolean; // its joint is planar or free
    axis: number[];
    first: number;
    end: number;
    switch: number;
    rod?: RodScene;
    body?: BodyScene;
}

export interface LoopScene {
    name: string;
    joint: string;
    axis: number[];
    radius: number; // of a wheel; 0: none
    a: number;
    b: number;
    switch: number;
    span: number; // duration over which a sliding station moves, s; 0: it does not slide
    stations: number[]; // its arc lengths, m, at equal steps of time
}

export interface MeasureScene {
    name: string;
    kind: string;
    symbol: string; // line, or tube with the radius at its points
    unit: string; // of its effort
    braid: number[]; // lengths of path, braid and threads as made; zeros: none
    points: number[][]; // node, x, y, z, radius
}

export interface SpringScene {
    name: string;
    kind: string; // spring, cable, damper or bushing
    rest: number; // length without tension
    a: number;
    b: number;
    switch: number;
}

export interface LoadScene {
    name: string;
    along: boolean;
    nodes: number[];
}

// A field; points at which it acts follow in the order of the recorded values.
export interface FieldScene {
    name: string;
    kind: string; // magnetic, dipole, force, acceleration or potential
    node: number; // of a dipole: what carries it
    switch: number;
}

export interface SiteScene {
    name: string;
    a: number; // start node of the screw on which the site lies
    b: number;
    share: number;
    at: number[]; // offset from there
    turn: number[]; // qw qx qy qz
}

// Its kind is ground, rods, or the shape of an obstacle.
export interface ContactScene extends SolidScene {
    name: string;
    at: number[]; // of a ground
    normal: number[];
    node: number; // of an obstacle: it has the axes of this node
    inside: boolean;
    body: boolean; // an obstacle that is the body of a link
    link: string; // contact of rods: its force is that on the rod of this link
}

export interface ProbeScene {
    name: string;
    kind: string;
    place: boolean; // its first three columns are a point in the world
    units: Record<string, string>;
}

export interface Scene {
    length: number;
    gravity: number[];
    parent: number[];
    kind: string[];
    links: LinkScene[];
    loops: LoopScene[];
    measures: MeasureScene[];
    springs: SpringScene[];
    loads: LoadScene[];
    fields: FieldScene[];
    fieldPoints: number[][]; // field, node, point and magnetic moment in the axes of the node
    sites: SiteScene[];
    contacts: ContactScene[];
    probes: ProbeScene[];
}

// A scene, and the first stage in which it is valid.
export interface Era {
    stage: number;
    scene: Scene;
}

const list = <T>(x: unknown): T[] => (Array.isArray(x) ? (x as T[]) : []);
const number = (x: unknown, otherwise = 0): number => (typeof x === 'number' && Number.isFinite(x) ? x : otherwise);
const numbers = (x: unknown, n: number): number[] => Array.from({ length: n }, (_, i) => number(list(x)[i]));
const text = (x: unknown): string => (typeof x === 'string' ? x : '');

// Vertices and faces with every index within its bounds.
function triangles(vertices: unknown, faces: unknown): { vertices: number[]; faces: number[] } {
    const v = list(vertices).map((x) => number(x)), n = Math.floor(v.length / 3), f = list(faces).map((x) => number(x, -1));
    const good = f.length % 3 === 0 && f.every((i) => Number.isInteger(i) && i >= 0 && i < n);
    return good ? { vertices: v.slice(0, 3 * n), faces: f } : { vertices: [], faces: [] };
}

function rod(x: RodScene, nodes: number): RodScene | undefined {
    const first = number(x.first, -1), count = number(x.count);
    if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count > 0 && first + count <= nodes)) return undefined;
    const rows = (from: unknown, n: number) => Array.from({ length: count + 1 }, (_, i) => numbers(list(from)[i], n));
    return {
        root: Math.min(number(x.root, -1), nodes - 1),
        first,
        count,
        length: number(x.length),
        fed: x.fed === true,
        rectangle: x.rectangle === true,
        x: numbers(x.x, count + 1),
        half: rows(x.half, 3),
        rest: rows(x.rest, 6),
        stiffness: rows(x.stiffness, 6),
        free: Array.from({ length: 6 }, (_, i) => list(x.free)[i] !== false),
    };
}

// Without a scene: one chain of nodes per link.
function guess(head: RunHead): Scene {
    const links: LinkScene[] = [];
    for (let i = 0; i < head.nodes; i++) {
        const last = links[links.length - 1];
        if (last && last.name === head.node_link[i]) {
            last.end = i;
        } else {
            links.push({ name: head.node_link[i], parent: links.length - 1, joint: 'fixed', symbol: 'clamp', slides: false, roams: false, axis: [0, 0, 1], first: i, end: i, switch: -1 });
        }
    }
    for (const l of links) {
        const count = l.end - l.first;
        if (count < 1) continue;
        const zeros = (n: number) => Array.from({ length: count + 1 }, () => new Array<number>(n).fill(0));
        l.rod = { root: l.first, first: l.first + 1, count, length: 0, fed: false, rectangle: false, x: Array.from({ length: count + 1 }, (_, i) => i), half: zeros(3), rest: zeros(6), stiffness: zeros(6), free: new Array<boolean>(6).fill(false) };
    }
    return {
        length: 1, gravity: [0, 0, 0], links,
        parent: Array.from({ length: head.nodes }, (_, i) => i - 1),
        kind: new Array<string>(head.nodes).fill('rod'),
        loops: [], measures: [], springs: [], loads: [], fields: [], fieldPoints: [], sites: [], contacts: [], probes: [],
    };
}

const isScene = (x: unknown): x is Scene => typeof x === 'object' && x !== null && Array.isArray((x as Scene).links);

// The initial scene and those after changes, in order; `told`: the file has a valid scene.
export function readScenes(head: RunHead): { eras: Era[]; told: boolean } {
    try {
        if (!head.scene) throw new Error('none');
        const raw = JSON.parse(head.scene) as Scene & { changes?: unknown };
        if (!isScene(raw)) throw new Error('no scene');
        const later = list<Scene & { stage: unknown }>(raw.changes).filter((c) => isScene(c)).map((c) => ({ stage: number(c.stage), scene: within(c, head) }));
        return { eras: [{ stage: 0, scene: within(raw, head) }, ...later], told: true };
    } catch {
        return { eras: [{ stage: 0, scene: guess(head) }], told: false };
    }
}

function solid(s: SolidScene): SolidScene {
    return { kind: text(s.kind), radius: number(s.radius), section: number(s.section), size: numbers(s.size, 3), ...triangles(s.vertices, s.faces) };
}

// The scene with every index within its bounds.
function within(raw: Scene, head: RunHead): Scene {
    const node = (x: unknown) => {
        const i = number(x, -1);
        return Number.isInteger(i) && i >= -1 && i < head.nodes ? i : -1;
    };
    const links = raw.links.map((l) => ({
        name: text(l.name),
        parent: number(l.parent, -1),
        joint: text(l.joint),
        symbol: text(l.symbol),
        slides: l.slides === true,
        roams: l.roams === true,
        axis: numbers(l.axis, 3),
        first: node(l.first),
        end: node(l.end),
        switch: number(l.switch, -1),
        rod: l.rod ? rod(l.rod, head.nodes) : undefined,
        body: l.body
            ? {
                  shape: text(l.body.shape),
                  shapes: list<ShapeScene>(l.body.shapes).map((s) => ({ ...solid(s), at: numbers(s.at, 3), turn: numbers(s.turn, 4) })),
                  size: numbers(l.body.size, 3),
                  axis: numbers(l.body.axis, 3),
                  com: numbers(l.body.com, 3),
                  mass: number(l.body.mass),
                  inertia: numbers(l.body.inertia, 6),
                  switch: number(l.body.switch, -1),
              }
            : undefined,
    }));
    return {
        length: number(raw.length, 1),
        gravity: numbers(raw.gravity, 3),
        parent: Array.from({ length: head.nodes }, (_, i) => Math.min(node(list(raw.parent)[i]), i - 1)),
        kind: Array.from({ length: head.nodes }, (_, i) => text(list(raw.kind)[i])),
        links,
        loops: list<LoopScene>(raw.loops).slice(0, head.loops).map((l) => ({ name: text(l.name), joint: text(l.joint), axis: numbers(l.axis, 3), radius: number(l.radius), a: node(l.a), b: node(l.b), switch: number(l.switch, -1), span: number(l.span), stations: numbers(l.stations, Math.min(list(l.stations).length, 1001)) })),
        measures: list<MeasureScene>(raw.measures).slice(0, head.measures).map((m) => ({ name: text(m.name), kind: text(m.kind), symbol: text(m.symbol) || (m.kind === 'tendon' ? 'line' : 'tube'), unit: text(m.unit) || (m.kind === 'tendon' ? 'N' : 'Pa'), braid: numbers(m.braid, 3), points: list<number[]>(m.points).map((p) => [node(list(p)[0]), ...numbers(list(p).slice(1), 4)]) })),
        springs: list<SpringScene>(raw.springs).map((s) => ({ name: text(s.name), kind: text(s.kind), rest: number(s.rest), a: node(s.a), b: node(s.b), switch: number(s.switch, -1) })),
        loads: list<LoadScene>(raw.loads).slice(0, head.loads).map((l) => ({ name: text(l.name), along: l.along === true, nodes: list(l.nodes).map(node) })),
        fields: list<FieldScene>(raw.fields).map((f) => ({ name: text(f.name), kind: text(f.kind), node: node(f.node), switch: number(f.switch, -1) })),
        fieldPoints: list<number[]>((raw as unknown as { field_points?: unknown }).field_points).slice(0, head.fields ?? 0).map((p) => [number(list(p)[0], -1), node(list(p)[1]), ...numbers(list(p).slice(2), 6)]),
        sites: list<SiteScene>(raw.sites).map((s) => ({ name: text(s.name), a: node(s.a), b: node(s.b), share: number(s.share), at: numbers(s.at, 3), turn: numbers(s.turn, 4) })),
        contacts: list<ContactScene>(raw.contacts).map((c) => ({ ...solid(c), name: text(c.name), kind: text(c.kind) || 'ground', at: numbers(c.at, 3), normal: numbers(c.normal, 3), node: node(c.node), inside: c.inside === true, body: c.body === true, link: text(c.link) })),
        probes: list<ProbeScene>(raw.probes).map((p) => ({ name: text(p.name), kind: text(p.kind), place: p.place === true, units: typeof p.units === 'object' && p.units !== null ? p.units : {} })),
    };
}
