// SPDX-License-Identifier: MIT
//
// The robot in three dimensions: all elements of the scene, posed at a frame.
import * as THREE from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { scale, type Theme } from './colour';
import type { Run } from './data';
import { Balls, Bars, Cones } from './instances';
import { readMeasured } from './measured';
import { advance, Poses, relativeLog, rotate } from './pose';
import { Rod, type Quantity } from './rod';
import { axisColours } from './triad';
import type { SectionState } from './section';
import type { BodyScene, ContactScene, LinkScene, LoopScene, MeasureScene, Scene, SolidScene, SpringScene } from './scene';

export interface Shown {
    colour: Quantity;
    tendons: boolean;
    joints: boolean;
    forces: boolean;
    fields: boolean; // where they act, and magnetic moments
    reactions: boolean;
    trails: boolean;
    frames: boolean;
    sites: boolean;
    axes: boolean; // of the world, in a corner
    measured: boolean;
}

interface Body {
    link: LinkScene;
    body: BodyScene;
    mesh: THREE.Mesh;
}

interface Trail {
    path: THREE.Line;
    past: Line2;
}

const TRAILS = 5; // shown at most
export const contactKinds = new Set(['wheel', 'ring', 'anchor', 'contact', 'groove']); // kinds of contacts by which a robot moves
const ROAMS = 4; // a robot that moves farther than this many of its lengths `roams`
const ARROW = 0.26; // length of the arrow of the largest force, relative to the size of the robot
const COILS = 9, COIL_SIDES = 10; // windings of a spring, and bars of one

// Red, green and blue axes of some frames.
function triads(n: number): THREE.LineSegments {
    const lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true }));
    const rgb = axisColours.map((c) => new THREE.Color(c).toArray());
    const colours = Array.from({ length: n }, () => rgb.flatMap((c) => [...c, ...c])).flat();
    lines.geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(18 * n), 3));
    lines.geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(colours), 3));
    lines.frustumCulled = false;
    return lines;
}

const hex = (share: number): number => {
    const c = scale(share, [0, 0, 0]);
    return (Math.round(c[0] * 255) << 16) | (Math.round(c[1] * 255) << 8) | Math.round(c[2] * 255);
};

export class Robot {
    readonly group = new THREE.Group();
    readonly poses: Poses;
    readonly box = new THREE.Box3(); // of all frames
    readonly places: number[] = []; // positions of nodes over the run, x y z
    readonly reached: number; // of them those of the robot itself; arrows and obstacles follow
    readonly size: number; // largest extent, m; if it roams, a multiple of its own extent
    readonly roams: boolean; // it moves many times its own length: the camera shows the robot, not its whole path
    private readonly goes: boolean; // it has wheels or other contacts;
    private readonly left: boolean[]; // these nodes, of the joint of its base, do not move with it
    private now = 0; // frame that is drawn
    private own = 0; // largest extent in one frame
    magnified = 1; // factor by which the thinnest rods are drawn thicker
    readonly most: Record<Quantity | 'effort' | 'force' | 'torque' | 'ground', number>;
    readonly quantities: Quantity[]; // quantities that can colour its rods
    cutAt: { link: number; share: number } | null = null; // section that is marked
    readonly cut: Partial<Record<Quantity, boolean>> = {}; // values exceed the scale
    private readonly rods: Rod[] = [];
    private readonly bodies: Body[] = [];
    private readonly obstacles: { node: number; mesh: THREE.Mesh }[] = [];
    private readonly trails: Trail[] = [];
    private readonly rodMaterial = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.55, metalness: 0.02 });
    private readonly hard = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.08 });
    private readonly bodyMaterial = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.1 });
    private readonly clear = new THREE.MeshStandardMaterial({ roughness: 0.3, transparent: true, opacity: 0.38, depthWrite: false });
    private readonly stone = new THREE.MeshStandardMaterial({ roughness: 0.8, metalness: 0, side: THREE.DoubleSide, shadowSide: THREE.BackSide });
    private readonly shell = new THREE.MeshStandardMaterial({ roughness: 0.8, transparent: true, opacity: 0.3, side: THREE.BackSide, depthWrite: false });
    private readonly flat = new THREE.MeshBasicMaterial();
    private readonly behind = new THREE.MeshBasicMaterial(); // arrows of forces within bodies and obstacles
    private readonly pathMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.22 });
    private readonly pastMaterial = new LineMaterial({ linewidth: 2, transparent: true, opacity: 0.6 });
    private readonly owner: (LinkScene | undefined)[]; // of each node
    private readonly gone: boolean[]; // of each node: its link is inactive now
    private readonly slides: boolean[]; // of each node: its joint slides along a bar
    private readonly struts: Bars;
    private readonly tendons: Bars;
    private readonly springs: Bars;
    private readonly chambers: Bars;
    private readonly shafts: Bars;
    private readonly heads: Cones;
    private readonly balls: Balls;
    private readonly heaviest: number; // largest mass without a shape, kg
    private readonly thickest: number; // largest radius of the rods as drawn
    private readonly axes: THREE.LineSegments;
    private readonly marks: THREE.LineSegments; // of named sites
    private readonly dots: Balls; // measured points
    private readonly gaps: Bars; // from there to the computed ones
    private readonly measurable: Set<number>; // first columns of points in the world
    private readonly fieldMost: number[] = []; // largest value of each field so far
    private readonly log = new Float64Array(6);
    private readonly here = new Float64Array(7);

    // `room`: margin for motion beyond the present frames, relative to its size; `holds`: frames in which the scene is valid
    constructor(readonly run: Run, readonly scene: Scene, room = 0, private readonly holds: (k: number) => boolean = () => true) {
        this.poses = new Poses(run.head.nodes);
        for (const l of scene.links) if (l.rod) this.rods.push(new Rod(l.rod, this.rodMaterial));
        const shaped = this.rods.every((r) => r.told), stiff = this.rods.every((r) => r.scene.stiffness.some((k) => k[1] > 0));
        this.quantities = this.rods.length === 0 ? ['plain'] : shaped && stiff ? ['strain', 'stress', 'curvature', 'plain'] : shaped ? ['strain', 'curvature', 'plain'] : ['curvature', 'plain'];
        const nodes = run.head.nodes;
        this.goes = scene.loops.some((l) => contactKinds.has(l.joint));
        const links = new Set(scene.links.map((l) => l.name));
        this.left = run.head.node_link.map((name) => !links.has(name)); // including ends of loops in the world
        for (const l of scene.links) {
            if (l.parent >= 0 || !(this.goes || l.roams)) continue;
            for (let i = l.first; i < (l.rod ? l.rod.root : l.end); i++) if (i >= 0) this.left[i] = true;
        }
        this.most = this.survey();
        scene.fieldPoints.forEach(([field], i) => {
            for (let k = i; k < run.field.length / 3; k += scene.fieldPoints.length) this.fieldMost[field] = Math.max(this.fieldMost[field] ?? 0, Math.hypot(run.field[3 * k], run.field[3 * k + 1], run.field[3 * k + 2]) || 0);
        });
        this.reached = this.places.length;
        const extent = this.box.getSize(new THREE.Vector3());
        const whole = Math.max(extent.x, extent.y, extent.z, 1e-6);
        this.roams = whole > ROAMS * this.own && this.own > 0 && run.n > 1;
        this.size = this.roams ? 1.5 * this.own : whole;
        if (room > 0) this.widen(room * this.size);
        // dipoles near the robot are part of the picture, where they are at first
        for (const { kind, node } of scene.fields) {
            if (kind !== 'dipole' || node < 0 || 7 * node + 2 >= run.pose.length) continue;
            const at = [0, 1, 2].map((c) => run.pose[7 * node + c] + run.head.offset[c]), p = new THREE.Vector3().fromArray(at);
            if (this.box.distanceToPoint(p) > 3 * this.size) continue;
            this.places.push(...at);
            this.box.expandByPoint(p);
        }
        const thinnest = this.size / 170;
        for (const r of this.rods) {
            if (!r.told) r.assume(this.size / 120);
            r.magnify = Math.max(1, thinnest / r.widest);
            if (r.told) this.magnified = Math.max(this.magnified, r.magnify);
            this.group.add(r.mesh);
        }
        // tendons inside of rods are visible through them
        this.thickest = Math.max(0, ...this.rods.map((r) => r.widest * r.magnify));
        if (scene.measures.some((m) => m.points.some((p) => Math.hypot(p[2], p[3]) < 0.95 * this.thickest))) {
            this.rodMaterial.transparent = true;
            this.rodMaterial.opacity = 0.62;
        }
        const points = scene.measures.reduce((n, m) => n + m.points.length, 0);
        const arrows = scene.loads.reduce((n, l) => n + Math.min(l.nodes.length, 14), 0) + scene.loops.length + scene.contacts.length + 14 * scene.fields.length;
        const railed = new Set(scene.links.filter((l) => l.slides && !this.isBase(l)).map((l) => l.name));
        this.gone = new Array<boolean>(nodes).fill(false);
        const named = new Map(scene.links.map((l) => [l.name, l]));
        this.owner = run.head.node_link.map((name) => named.get(name));
        this.slides = scene.kind.map((kind, i) => kind === 'screw' && railed.has(run.head.node_link[i]));
        this.struts = new Bars(this.hard, 2 * nodes + 4 * scene.links.length + 4 * scene.loops.length + 8);
        this.tendons = new Bars(this.hard, points + 1, 8);
        this.springs = new Bars(this.hard, (COILS * COIL_SIDES + 2) * scene.springs.length + 1, 8);
        this.chambers = new Bars(this.clear, points + 1, 24, false, false);
        this.shafts = new Bars(this.flat, 2 * arrows + 1, 10, false);
        this.heads = new Cones(this.flat, 4 * arrows + 1);
        this.shafts.showHidden(this.behind);
        this.heads.showHidden(this.behind);
        this.balls = new Balls(this.hard, 2 * nodes + points + scene.loops.length + 2 * scene.links.length + 2 * scene.springs.length + scene.fields.length);
        this.axes = triads(scene.links.length + 1);
        this.marks = triads(scene.sites.length);
        this.group.add(this.struts.mesh, this.tendons.mesh, this.springs.mesh, this.chambers.mesh, this.shafts.mesh, this.heads.mesh, this.balls.mesh, this.axes, this.marks);
        this.heaviest = Math.max(...scene.links.map((l) => (l.body?.shape === 'none' ? l.body.mass : 0)));
        for (const l of scene.links) if (l.body) this.addBody(l, l.body);
        for (const c of scene.contacts) if (c.kind !== 'ground' && c.node >= 0) this.addObstacle(c);
        this.measurable = new Set(this.placeColumns());
        const most = readMeasured(run).any ? this.measurable.size * Math.max(run.head.measured?.length ?? 1, 1) : 0;
        this.dots = new Balls(this.flat, most, false);
        this.gaps = new Bars(this.flat, most, 6, false);
        this.dots.showHidden(this.behind);
        this.group.add(this.dots.mesh, this.gaps.mesh);
        this.addTrails();
        this.reach();
    }

    // Include the arrows of loads and loops in the extent, from a few dozen frames.
    private reach(): void {
        const { run, scene, places } = this, step = Math.max(1, Math.floor(run.n / 40)), a = [0, 0, 0];
        const put = (node: number, w: Float32Array, at: number, side: number) => {
            const length = (side * ARROW * this.size) / this.most.force;
            this.origin(node, a);
            const tip = a.map((x, i) => x + length * w[at + 3 + i]);
            if (this.most.force > 0 && Number.isFinite(tip[0] + tip[1] + tip[2])) places.push(...tip);
        };
        for (let k = 0; k < run.n; k += step) {
            this.poses.take(run.pose, k, 0, run.head.offset);
            scene.loads.forEach((l, i) => l.along || l.nodes.forEach((node) => put(node, run.load, 6 * (k * run.head.loads + i), -1)));
            scene.loops.forEach((l, i) => this.isThere(k, l.switch) && l.joint !== 'contact' && put(l.b, run.loop, 6 * (k * run.head.loops + i), 1));
            // bodies whose drawing was chosen here
            for (const { link, body, mesh } of this.bodies) {
                if (body.shape !== 'none') continue;
                const { min, max } = mesh.geometry.boundingBox ?? (mesh.geometry.computeBoundingBox(), mesh.geometry.boundingBox!);
                for (let i = 0; i < 8; i++) places.push(...this.poses.point(link.end, body.com[0] + (i & 1 ? min : max).x, body.com[1] + (i & 2 ? min : max).y, body.com[2] + (i & 4 ? min : max).z, [0, 0, 0]));
            }
            // obstacles that are not too large, and wide fields not at all
            for (const c of scene.contacts) {
                const r = Math.max(c.radius + c.section, ...c.size.map((x) => x / 2));
                if (c.kind === 'ground' || (c.kind === 'height' && r > 2 * this.size) || c.kind === 'plane' || c.node < 0 || !(r < 6 * this.size)) continue;
                this.origin(c.node, a);
                for (let i = 0; i < 6; i++) places.push(...a.map((x, d) => x + (d === i >> 1 ? (i & 1 ? r : -r) : 0)));
            }
        }
    }

    // the joint of the base of a robot that moves by contacts is not drawn
    private isBase(l: LinkScene): boolean {
        return this.goes && l.parent < 0;
    }

    // Points reached in the present frame: nodes, bodies, wheels and tendons.
    present(): number[] {
        const { run, scene } = this, out: number[] = [];
        const put = (x: number, y: number, z: number) => Number.isFinite(x + y + z) && out.push(x, y, z);
        const around = (c: number[], r: number) => {
            for (let i = 0; i < 6; i++) put(...(c.map((x, d) => x + (d === i >> 1 ? (i & 1 ? r : -r) : 0)) as [number, number, number]));
        };
        for (let i = 0; i < run.head.nodes; i++) if (!this.left[i]) put(this.poses.g[7 * i], this.poses.g[7 * i + 1], this.poses.g[7 * i + 2]);
        for (const l of scene.links) {
            if (!l.body) continue;
            const { shape, size, com } = l.body, c = this.poses.point(l.end, com[0], com[1], com[2], [0, 0, 0]);
            for (const s of l.body.shapes) around(this.poses.point(l.end, s.at[0], s.at[1], s.at[2], [0, 0, 0]), s.kind === 'capsule' ? s.radius + s.size[2] / 2 : Math.max(s.radius, ...s.size.map((x) => x / 2)));
            // a box by its corners: half its diagonal would be too large for a flat box
            if (shape === 'box') {
                for (let i = 0; i < 8; i++) {
                    const at = [0, 1, 2].map((d) => com[d] + ((i >> d) & 1 ? 0.5 : -0.5) * size[d]);
                    put(...(this.poses.point(l.end, at[0], at[1], at[2], [0, 0, 0]) as [number, number, number]));
                }
            } else around(c, shape === 'none' ? 0 : Math.max(size[0], size[1] / 2));
        }
        for (const l of scene.loops) if (l.joint === 'wheel' && l.radius > 0) around(this.origin(l.b, [0, 0, 0]), l.radius);
        for (const s of scene.springs) for (const node of [s.a, s.b]) put(...(this.origin(node, [0, 0, 0]) as [number, number, number]));
        for (const m of scene.measures) {
            for (const p of m.unit === 'N' ? m.points : []) put(...(this.poses.point(p[0], p[1], p[2], p[3], [0, 0, 0]) as [number, number, number]));
        }
        return out;
    }

    // Extent and largest values over the run, by a few hundred frames.
    private survey() {
        const most = { plain: 0, curvature: 0, strain: 0, stress: 0, effort: 0, force: 0, torque: 0, ground: 0 };
        const { run } = this, peaks: Record<string, number[]> = {};
        const step = Math.max(1, Math.floor(run.n / Math.max(24, Math.min(300, 60000 / Math.max(run.head.nodes, 1)))));
        const p = new THREE.Vector3();
        for (let k = 0; k < run.n; k += k + step >= run.n && k < run.n - 1 ? run.n - 1 - k : step) {
            this.poses.take(run.pose, k, 0, run.head.offset);
            const now = this.present(), here = new THREE.Box3();
            for (let i = 0; i < now.length; i += 3) here.expandByPoint(p.fromArray(now, i));
            for (const x of now) this.places.push(x);
            this.box.union(here);
            if (!here.isEmpty()) this.own = Math.max(this.own, ...here.getSize(p).toArray());
            for (const r of this.holds(k) ? this.rods : []) {
                for (const q of this.quantities) (peaks[q] ??= []).push(r.largest(this.poses, q) || 0);
            }
        }
        // a short peak does not determine the scale; the scale then says "or more"
        for (const q of this.quantities) {
            const rising = Float64Array.from(peaks[q] ?? []).sort(), top = rising[rising.length - 1] ?? 0;
            const usual = rising[Math.floor(0.97 * (rising.length - 1))] ?? 0;
            this.cut[q] = usual < 0.5 * top && usual > 0;
            most[q] = this.cut[q] ? usual : top;
        }
        // undetermined values (NaN) are skipped
        for (const a of [run.load, run.loop]) for (let i = 0; i < a.length; i++) if (Number.isNaN(a[i])) a[i] = 0;
        const sweep = (a: Float32Array) => {
            for (let i = 0; i + 5 < a.length; i += 6) {
                most.torque = Math.max(most.torque, Math.hypot(a[i], a[i + 1], a[i + 2]));
                most.force = Math.max(most.force, Math.hypot(a[i + 3], a[i + 4], a[i + 5]));
            }
        };
        sweep(run.load);
        sweep(run.loop);
        // impacts exceed static forces many times: their arrows are long, the others keep their scale
        const grounds = Float64Array.from({ length: run.contact.length / 6 }, (_, i) => Math.hypot(run.contact[6 * i + 3], run.contact[6 * i + 4], run.contact[6 * i + 5]) || 0).sort();
        most.ground = grounds[Math.floor(0.9 * (grounds.length - 1))] || (grounds[grounds.length - 1] ?? 0);
        // mode shapes are drawn too large for tendon forces to be meaningful
        run.effort.forEach((e, i) => run.mode(Math.floor(i / run.head.measures)) > 0 || (most.effort = Math.max(most.effort, Math.abs(e) || 0)));
        if (this.box.isEmpty()) this.box.expandByPoint(p.set(0, 0, 0));
        return most;
    }

    // margin on all sides, and a minimum extent
    private widen(by: number): void {
        const around = [...this.places];
        for (let i = 0; i < around.length; i += 3) {
            for (let c = 0; c < 6; c++) this.places.push(...[0, 1, 2].map((d) => around[i + d] + (d === c >> 1 ? (c & 1 ? by : -by) : 0)));
        }
        this.box.expandByScalar(by);
    }

    // Extend the scales by the present frame of a live run; true when one has changed.
    grow(): boolean {
        const { run, most } = this;
        let grown = false;
        const raise = (key: keyof typeof most, x: number) => {
            if (!(x > 1.02 * most[key]) || !Number.isFinite(x)) return;
            most[key] = x;
            grown = true;
        };
        for (const r of this.rods) for (const q of this.quantities) raise(q, r.largest(this.poses, q));
        for (const a of [run.load, run.loop]) {
            for (let i = 0; i + 5 < a.length; i += 6) {
                raise('torque', Math.hypot(a[i], a[i + 1], a[i + 2]));
                raise('force', Math.hypot(a[i + 3], a[i + 4], a[i + 5]));
            }
        }
        for (let i = 0; i + 5 < run.contact.length; i += 6) raise('ground', Math.hypot(run.contact[i + 3], run.contact[i + 4], run.contact[i + 5]));
        for (const e of run.effort) raise('effort', Math.abs(e));
        return grown;
    }

    // State of the rod of a link at a fraction of its length; null: it has none.
    section(link: number, share: number): SectionState | null {
        const scene = this.scene.links[link]?.rod;
        return this.rods.find((r) => r.scene === scene)?.section(this.poses, share) ?? null;
    }

    // Rod hit by a ray, by its link, and the fraction of its length; null: none is hit before a body.
    hitRod(ray: THREE.Raycaster): { link: number; share: number } | null {
        let best: { link: number; share: number } | null = null, least = this.hit(ray)?.distance ?? Infinity;
        this.scene.links.forEach((l, link) => {
            const hit = this.rods.find((r) => r.scene === l.rod)?.hit(ray);
            if (!hit || hit.distance >= least) return;
            least = hit.distance;
            best = { link, share: hit.share };
        });
        return best;
    }

    // First body hit by a ray, and the point in the frame of its node.
    hit(ray: THREE.Raycaster): { node: number; at: THREE.Vector3; distance: number } | null {
        const [first] = ray.intersectObjects(this.bodies.filter((b) => b.mesh.visible).map((b) => b.mesh), false);
        const body = first && this.bodies.find((b) => b.mesh === first.object);
        if (!body) return null;
        const at = body.mesh.worldToLocal(first.point.clone()).add(new THREE.Vector3().fromArray(body.body.com));
        return { node: body.link.end, at, distance: first.distance };
    }

    // can a node be dragged? It must be active and have coordinates that move it
    movable(node: number): boolean {
        for (let i = node; i >= 0; i = this.scene.parent[i]) if (!['pose', 'shape'].includes(this.scene.kind[i])) return !this.gone[node];
        return false;
    }

    // Each shape of a body as a mesh whose origin is the centre of mass.
    private addShapes(link: LinkScene, body: BodyScene): void {
        for (const s of body.shapes) {
            const geometry = this.solid(s);
            if (!geometry) continue;
            const [w, x, y, z] = s.turn;
            geometry.applyQuaternion(new THREE.Quaternion(x, y, z, w).normalize());
            geometry.translate(s.at[0] - body.com[0], s.at[1] - body.com[1], s.at[2] - body.com[2]);
            this.addBodyMesh(link, body, geometry);
        }
    }

    private addBody(link: LinkScene, body: BodyScene): void {
        if (body.shapes.length > 0) return this.addShapes(link, body);
        const [a, b, c] = body.size;
        const least = this.size / 400;
        let geometry: THREE.BufferGeometry;
        if (body.shape === 'box') {
            geometry = new THREE.BoxGeometry(Math.max(a, least), Math.max(b, least), Math.max(c, least));
        } else if (body.shape === 'cylinder') {
            geometry = new THREE.CylinderGeometry(Math.max(a, least), Math.max(a, least), Math.max(b, least), 40);
            const axis = new THREE.Vector3().fromArray(body.axis);
            if (axis.lengthSq() > 0) geometry.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), axis.normalize()));
        } else if (body.shape === 'sphere') {
            geometry = new THREE.SphereGeometry(Math.max(a, least), 32, 20);
        } else {
            // without a shape: what it carries, or the box with its moments of inertia, or a ball if no box has them
            if (this.scene.contacts.some((o) => o.faces.length > 0 && o.node >= 0 && this.scene.parent[o.node] === link.end)) return;
            const m = body.mass, [x, y, z] = body.inertia;
            const sums = [y + z - x, z + x - y, x + y - z], real = Math.min(...sums) >= -1e-6 * Math.max(...sums);
            const w = sums.map((i) => Math.sqrt(Math.max((6 * i) / m, 0)) || 0);
            const large = Math.max(...w);
            if (real && large > this.size / 100 && large < this.size) {
                geometry = new THREE.BoxGeometry(...(w.map((x) => Math.max(x, large / 12)) as [number, number, number]));
            } else {
                // balls of equal density: the radius grows with the cube root of the mass
                geometry = new THREE.SphereGeometry(Math.max((this.size / 40) * Math.cbrt(m / this.heaviest) || 0, this.size / 130), 28, 18);
            }
        }
        this.addBodyMesh(link, body, geometry);
    }

    private addBodyMesh(link: LinkScene, body: BodyScene, geometry: THREE.BufferGeometry): void {
        const mesh = new THREE.Mesh(geometry, this.bodyMaterial);
        mesh.castShadow = true;
        mesh.receiveShadow = true;
        this.bodies.push({ link, body, mesh });
        this.group.add(mesh);
    }

    // A solid with its axis along z; one that is endless as long as the picture needs.
    private solid(c: SolidScene): THREE.BufferGeometry | null {
        const long = 3 * this.size, r = c.radius, length = c.size[2] > 0 ? c.size[2] : long;
        const upright = (g: THREE.BufferGeometry) => g.rotateX(Math.PI / 2); // from y to z
        if (c.kind === 'sphere') return new THREE.SphereGeometry(r, 48, 32);
        if (c.kind === 'capsule') return upright(new THREE.CapsuleGeometry(r, length, 16, 40));
        if (c.kind === 'box') return new THREE.BoxGeometry(c.size[0], c.size[1], c.size[2]);
        if (c.kind === 'cylinder') return upright(new THREE.CylinderGeometry(r, r, length, 56, 1, !(c.size[2] > 0)));
        if (c.kind === 'torus') return new THREE.TorusGeometry(r, c.section, 20, 64);
        if (c.faces.length > 0) return this.surface(c);
        if (c.kind === 'mesh') return new THREE.BoxGeometry(c.size[0], c.size[1], c.size[2]); // of too many faces
        if (c.kind === 'plane') return new THREE.PlaneGeometry(1.7 * this.size, 1.7 * this.size);
        return null;
    }

    private addObstacle(c: ContactScene): void {
        const geometry = c.body ? null : this.solid(c);
        if (!geometry) return;
        const mesh = new THREE.Mesh(geometry, c.inside ? this.shell : this.stone);
        // on a body of the same size it would flicker
        if (this.scene.parent[c.node] >= 0) mesh.scale.setScalar(0.985);
        mesh.receiveShadow = true;
        mesh.castShadow = !c.inside;
        // a plane at rest extends under the whole motion
        if (c.kind === 'plane' && this.scene.parent[c.node] < 0) {
            const i = 7 * c.node, g = this.run.pose, turn = new THREE.Quaternion(g[i + 4], g[i + 5], g[i + 6], g[i + 3]).invert();
            const to = this.box.getCenter(new THREE.Vector3()).sub(new THREE.Vector3(g[i], g[i + 1], g[i + 2]).add(new THREE.Vector3().fromArray(this.run.head.offset))).applyQuaternion(turn);
            geometry.translate(to.x, to.y, 0);
        }
        this.obstacles.push({ node: c.node, mesh });
        this.group.add(mesh);
    }

    // A height field is smooth, a mesh or hull has edges.
    private surface(c: SolidScene): THREE.BufferGeometry {
        const shared = new THREE.BufferGeometry();
        shared.setAttribute('position', new THREE.Float32BufferAttribute(c.vertices, 3));
        shared.setIndex(c.faces);
        const geometry = c.kind === 'height' ? shared : shared.toNonIndexed();
        geometry.computeVertexNormals();
        return geometry;
    }

    private moveObstacles(): void {
        for (const o of this.obstacles) {
            const i = this.poses.at(o.node), g = this.poses.g;
            o.mesh.position.set(g[i], g[i + 1], g[i + 2]);
            o.mesh.quaternion.set(g[i + 4], g[i + 5], g[i + 6], g[i + 3]);
        }
    }

    // first columns of probes that are points in the world
    private placeColumns(): number[] {
        const names = new Set(this.scene.probes.filter((p) => p.place).map((p) => p.name)), { columns } = this.run.head;
        return columns.map((_, i) => i).filter((i) => columns[i].component === 'x' && names.has(columns[i].probe) && columns[i + 1]?.component === 'y' && columns[i + 2]?.component === 'z');
    }

    // Measured points of the frame, each joined with its computed one; components that were not measured are the computed ones.
    private putMeasured(k: number, shown: Shown, theme: Theme): void {
        const { run } = this, measured = readMeasured(run);
        this.dots.begin();
        this.gaps.begin();
        if (shown.measured && measured.any && !(run.mode(k) > 0)) {
            for (const { column, at } of measured.points(run.t[k], this.measurable)) {
                const computed = [0, 1, 2].map((d) => run.columns.value[k * run.columns.width + column + d]), point = at.map((x, d) => (Number.isFinite(x) ? x : computed[d]));
                this.dots.ball(point, this.size / 130, theme.measured);
                this.gaps.bar(computed, point, this.size / 700, theme.measured);
            }
        }
        this.dots.end();
        this.gaps.end();
    }

    private addTrails(): void {
        const { run } = this, { columns } = run.head;
        const found = [...this.measurable].filter((i) => columns[i].station < 0);
        // a few of many, the last one among them
        const every = Math.ceil(found.length / TRAILS);
        found.filter((_, i) => (found.length - 1 - i) % every === 0).forEach((i) => {
            const at = new Float32Array(3 * run.n);
            for (let k = 0; k < run.n; k++) {
                for (let d = 0; d < 3; d++) at[3 * k + d] = run.columns.value[k * run.columns.width + i + d];
            }
            if (run.n < 2) return;
            const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(at, 3));
            const trail = { path: new THREE.Line(geometry, this.pathMaterial), past: new Line2(new LineGeometry().setPositions(at), this.pastMaterial) };
            trail.path.frustumCulled = trail.past.frustumCulled = false;
            this.trails.push(trail);
            this.group.add(trail.path, trail.past);
        });
    }

    dress(theme: Theme): void {
        this.bodyMaterial.color.setHex(theme.body);
        for (const m of [this.stone, this.shell]) m.color.setHex(theme.dark ? 0x6b6459 : 0xb8ad98);
        this.pathMaterial.color.setHex(theme.trail);
        this.pastMaterial.color.setHex(theme.trail);
    }

    // transparent, over the robot of another run
    fade(on: boolean): void {
        for (const m of this.materials) {
            const { opacity, transparent } = (m.userData.own ??= { opacity: m.opacity, transparent: m.transparent }) as { opacity: number; transparent: boolean };
            m.opacity = on ? 0.4 * opacity : opacity;
            m.transparent = on || transparent;
            m.needsUpdate = true;
        }
    }

    private get materials(): THREE.Material[] {
        return [this.rodMaterial, this.hard, this.bodyMaterial, this.stone, this.shell, this.clear, this.flat, this.behind, this.pathMaterial, this.pastMaterial];
    }

    private isThere(k: number, gate: number): boolean {
        const n = this.run.head.switches;
        return gate >= 0 && gate < n ? this.run.present[k * n + gate] !== 0 : gate !== -2;
    }

    // Frame k, or between k and k + 1; a mode shape oscillates about the frame `rest` it belongs to.
    update(k: number, share: number, shown: Shown, theme: Theme, rest = -1): void {
        if (rest >= 0) this.poses.mix(this.run.pose, rest, k, share, this.run.head.offset);
        else this.poses.take(this.run.pose, k, share, this.run.head.offset);
        const plain = new THREE.Color(theme.rod).toArray();
        for (const r of this.rods) r.update(this.poses, shown.colour, this.most[shown.colour], plain);
        for (const l of this.scene.links) {
            const rod = l.rod && this.rods.find((r) => r.scene === l.rod);
            if (rod) rod.mesh.visible = this.isThere(k, l.switch);
        }
        this.owner.forEach((l, i) => (this.gone[i] = l !== undefined && !this.isThere(k, l.switch)));
        this.moveBodies(k);
        this.moveObstacles();
        this.balls.begin();
        this.putStruts(k, shown, theme);
        this.putMeasures(k, shown, theme);
        this.putArrows(k, shown, theme);
        this.putMeasured(k, shown, theme);
        this.balls.end();
        this.putAxes(shown);
        for (const t of this.trails) {
            t.path.visible = t.past.visible = shown.trails && this.run.n > 1;
            t.past.geometry.instanceCount = k;
        }
    }

    private moveBodies(k: number): void {
        const c = [0, 0, 0];
        for (const b of this.bodies) {
            const i = this.poses.at(b.link.end), g = this.poses.g;
            this.poses.point(b.link.end, b.body.com[0], b.body.com[1], b.body.com[2], c);
            b.mesh.position.fromArray(c);
            b.mesh.quaternion.set(g[i + 4], g[i + 5], g[i + 6], g[i + 3]);
            b.mesh.visible = this.isThere(k, b.body.switch);
        }
    }

    // Position of a sliding station in frame k, and the tangent there; false if unknown.
    private swept(l: LoopScene, k: number, at: number[], d: number[]): boolean {
        const rod = this.scene.links.find((x) => x.rod && x.rod.root === l.b)?.rod;
        if (!rod || rod.count < 1 || l.stations.length < 2 || !(l.span > 0)) return false;
        const step = Math.round((this.run.t[k] / l.span) * (l.stations.length - 1));
        const x = l.stations[Math.min(Math.max(step, 0), l.stations.length - 1)];
        let i = 1;
        while (i < rod.count && rod.x[i] < x) i++;
        const a = this.origin(i === 1 ? rod.root : rod.first + i - 2, [0, 0, 0]), b = this.origin(rod.first + i - 1, [0, 0, 0]);
        const share = (x - rod.x[i - 1]) / (rod.x[i] - rod.x[i - 1] || 1), length = Math.hypot(...b.map((y, c) => y - a[c])) || 1;
        for (let c = 0; c < 3; c++) {
            at[c] = a[c] + share * (b[c] - a[c]);
            d[c] = (b[c] - a[c]) / length;
        }
        return Number.isFinite(at[0] + at[1] + at[2]);
    }

    private origin(node: number, out: number[]): number[] {
        const i = this.poses.at(node);
        out[0] = this.poses.g[i];
        out[1] = this.poses.g[i + 1];
        out[2] = this.poses.g[i + 2];
        return out;
    }

    // rigid parts between nodes, joints, clamps
    private putStruts(k: number, shown: Shown, theme: Theme): void {
        this.now = k;
        const { scene } = this, a = [0, 0, 0], b = [0, 0, 0], r = this.size / 200;
        this.struts.begin();
        for (let i = 0; i < this.run.head.nodes; i++) {
            const kind = scene.kind[i], parent = scene.parent[i];
            if (parent < 0 || this.gone[i] || (kind !== 'pose' && !this.slides[i])) continue;
            this.struts.bar(this.origin(parent, a), this.origin(i, b), kind === 'pose' ? r : 0.7 * r, theme.strut);
        }
        for (const l of scene.links) {
            // a body off the end of its link is connected by a bar
            if (l.body && this.isThere(k, l.body.switch) && !l.rod) {
                this.poses.point(l.end, l.body.com[0], l.body.com[1], l.body.com[2], b);
                this.struts.bar(this.origin(l.end, a), b, r, theme.strut);
            }
            if (shown.joints && this.isThere(k, l.switch) && !this.isBase(l)) this.putJoint(l, theme, r);
        }
        for (const l of scene.loops) {
            if (shown.joints && this.isThere(k, l.switch)) this.putLoop(l, theme, r);
        }
        // the section that was chosen: a disc
        const section = this.cutAt && this.section(this.cutAt.link, this.cutAt.share);
        if (section) {
            const p = Array.from(section.pose.subarray(0, 3)), [w, x, y, z] = section.pose.subarray(3, 7), d = rotate(w, x, y, z, 0.5 * r, 0, 0, [0, 0, 0]);
            this.struts.bar(p.map((v, i) => v - d[i]), p.map((v, i) => v + d[i]), 1.35 * section.radius + 0.5 * r, theme.measured);
        }
        this.struts.end();
    }

    // extent of the body of an axle along it, and a radius for its wheels
    private axle(l: LoopScene, r: number): { out: number; radius: number } {
        // a site near its body belongs to it
        let node = l.b;
        const at = () => this.bodies.find((b) => b.link.end === node);
        while (!at() && this.scene.kind[node] === 'pose' && this.scene.parent[node] >= 0) node = this.scene.parent[node];
        const body = at();
        if (!body) return { out: 4 * r, radius: 6 * r };
        const box = body.mesh.geometry.boundingBox ?? (body.mesh.geometry.computeBoundingBox(), body.mesh.geometry.boundingBox!);
        const half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5).toArray();
        const out = half.reduce((sum, h, i) => sum + h * Math.abs(l.axis[i]), 0);
        return { out, radius: Math.min(Math.max(6 * r, 0.6 * Math.min(...half)), 0.9 * out || 6 * r) };
    }

    // loop closure, or the contact there
    private putLoop(l: LoopScene, theme: Theme, r: number): void {
        const at = this.origin(l.b, [0, 0, 0]), d = [0, 0, 0];
        const disc = (length: number, radius: number, colour: number, out = 0) => {
            this.struts.bar(at.map((x, i) => x + (out - length) * d[i]), at.map((x, i) => x + (out + length) * d[i]), radius, colour);
        };
        const wheel = (radius: number, out: number) => {
            disc(0.16 * radius, radius, theme.tyre, out);
            disc(0.24 * radius, 0.4 * radius, theme.joint, out);
        };
        switch (l.joint) {
            case 'wheel': {
                this.poses.turn(l.b, l.axis[0], l.axis[1], l.axis[2], d);
                // a rolling wheel has its own radius; an axle without wheels gets two, beside the body
                const { out, radius } = this.axle(l, r);
                if (l.radius > 0) wheel(l.radius, 0);
                else for (const side of [-1, 1]) wheel(radius, side * (out + 0.24 * radius));
                break;
            }
            case 'ring':
                this.poses.turn(l.b, 1, 0, 0, d);
                disc(1.5 * r, Math.max(3.5 * r, 1.25 * this.thickest), theme.joint);
                break;
            case 'contact': // sliding station along a rod
                if (this.swept(l, this.now, at, d)) disc(1.5 * r, Math.max(3.5 * r, 1.25 * this.thickest), theme.joint);
                break;
            case 'groove': // along the whole rod
                break;
            default:
                this.balls.ball(at, (l.joint === 'anchor' ? 3.4 : 1.9) * r, theme.joint);
        }
    }

    private putJoint(l: LinkScene, theme: Theme, r: number): void {
        const at = this.origin(l.first, [0, 0, 0]), d = [0, 0, 0];
        const across = (length: number, radius: number) => {
            this.poses.turn(l.first, l.axis[0], l.axis[1], l.axis[2], d);
            const a = at.map((x, i) => x - length * d[i]), b = at.map((x, i) => x + length * d[i]);
            this.struts.bar(a, b, radius, theme.joint);
        };
        switch (l.symbol) {
            case 'pin':
                across(3.2 * r, 2.2 * r);
                break;
            case 'rail':
                across(4 * r, 1.6 * r);
                break;
            case 'ball':
                this.balls.ball(at, 2.6 * r, theme.joint);
                break;
            case 'clamp':
                // clamped in the world: a plate across the rod
                if (l.parent < 0 && l.rod && this.run.head.nodes > 0) {
                    const wide = Math.max(3 * r, 1.5 * this.rootOf(l));
                    this.poses.turn(l.rod.root, 1, 0, 0, d);
                    this.struts.bar(at.map((x, i) => x - 1.4 * r * d[i]), at, wide, theme.joint);
                }
                break;
        }
    }

    // half width of a rod at its root, as drawn
    private rootOf(l: LinkScene): number {
        const rod = this.rods.find((x) => x.scene === l.rod);
        return rod ? rod.root * rod.magnify : 0;
    }

    // A spring is a coil, a cable a line, pale while it is slack, a damper a rod in a tube, a bushing a sleeve.
    private putSpring(s: SpringScene, theme: Theme): void {
        const a = this.origin(s.a, [0, 0, 0]), b = this.origin(s.b, [0, 0, 0]), thin = this.size / 420;
        const d = b.map((x, i) => x - a[i]), length = Math.hypot(d[0], d[1], d[2]);
        const at = (share: number) => a.map((x, i) => x + share * d[i]);
        for (const end of [a, b]) this.balls.ball(end, 2 * thin, theme.joint);
        if (!(length > 0)) return;
        switch (s.kind) {
            case 'spring': {
                // two unit vectors across the line
                const u = new THREE.Vector3(...(d as [number, number, number])).divideScalar(length);
                const v = new THREE.Vector3(Math.abs(u.x) < 0.8 ? 1 : 0, Math.abs(u.x) < 0.8 ? 0 : 1, 0).cross(u).normalize(), w = u.clone().cross(v);
                const r = Math.min(8 * thin, 0.12 * length), n = COILS * COIL_SIDES;
                const turn = (i: number) => {
                    const angle = (2 * Math.PI * i) / COIL_SIDES, share = 0.1 + (0.8 * i) / n;
                    const out = i === 0 || i === n ? 0 : r, c = out * Math.cos(angle), e = out * Math.sin(angle);
                    return at(share).map((x, j) => x + c * v.getComponent(j) + e * w.getComponent(j));
                };
                this.springs.bar(a, turn(0), thin, theme.tendon);
                for (let i = 0; i < n; i++) this.springs.bar(turn(i), turn(i + 1), thin, theme.tendon);
                this.springs.bar(turn(n), b, thin, theme.tendon);
                break;
            }
            case 'damper':
                this.springs.bar(a, at(0.65), 5 * thin, theme.joint);
                this.springs.bar(at(0.5), b, 2 * thin, theme.tendon);
                break;
            case 'bushing':
                this.springs.bar(a, b, 7 * thin, theme.joint);
                break;
            default:
                this.springs.bar(a, b, length > s.rest ? thin : 0.5 * thin, length > s.rest ? theme.tendon : theme.joint);
        }
    }

    // Radius of a braid over that as made: threads of length b around a cylinder of length l have r^2 ~ b^2 - l^2.
    private widening(m: MeasureScene): number {
        const [path, length, thread] = m.braid, a = [0, 0, 0], b = [0, 0, 0];
        if (!(thread > length)) return 1;
        let now = 0;
        for (let j = 0; j + 1 < m.points.length; j++) {
            const p = m.points[j], q = m.points[j + 1];
            this.poses.point(p[0], p[1], p[2], p[3], a);
            this.poses.point(q[0], q[1], q[2], q[3], b);
            now += Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
        }
        const l = Math.max(length + now - path, 0);
        return Math.sqrt(Math.max(thread * thread - l * l, 0) / (thread * thread - length * length));
    }

    private putMeasures(k: number, shown: Shown, theme: Theme): void {
        const { scene, run } = this, n = run.head.measures;
        const a = [0, 0, 0], b = [0, 0, 0], thin = this.size / 420;
        this.tendons.begin();
        this.chambers.begin();
        scene.measures.forEach((m, i) => {
            if (!shown.tendons) return;
            const share = this.most.effort > 0 ? Math.abs(run.effort[k * n + i]) / this.most.effort : 0;
            const line = m.symbol === 'line';
            const colour = this.most.effort > 0 ? hex(share) : line ? theme.tendon : theme.chamber;
            const wide = line ? 1 : this.widening(m);
            for (let j = 0; j + 1 < m.points.length; j++) {
                const p = m.points[j], q = m.points[j + 1];
                this.poses.point(p[0], p[1], p[2], p[3], a);
                this.poses.point(q[0], q[1], q[2], q[3], b);
                if (line) {
                    this.tendons.bar(a, b, thin, colour);
                    this.balls.ball(b, thin, colour);
                } else {
                    this.chambers.bar(a, b, Math.max(0.5 * wide * (p[4] + q[4]), thin), colour);
                }
            }
        });
        this.springs.begin();
        for (const s of scene.springs) if (shown.tendons && this.isThere(k, s.switch)) this.putSpring(s, theme);
        this.springs.end();
        this.tendons.end();
        this.chambers.end();
    }

    private putArrows(k: number, shown: Shown, theme: Theme): void {
        const { scene, run } = this;
        this.shafts.begin();
        this.heads.begin();
        scene.loads.forEach((l, i) => {
            if (!shown.forces) return;
            const at = 6 * (k * run.head.loads + i);
            // a distributed load is shown at some nodes, by its mean
            const few = Math.min(l.nodes.length, 14), share = l.along ? 0.6 : 1;
            for (let j = 0; j < few; j++) {
                const node = l.nodes[few > 1 ? Math.round((j * (l.nodes.length - 1)) / (few - 1)) : 0];
                this.arrow(node, run.load.subarray(at + 3, at + 6), (share * ARROW * this.size) / this.most.force, theme.load, 1, true);
                this.arrow(node, run.load.subarray(at, at + 3), (share * 0.2 * this.size) / this.most.torque, theme.torque, 2, false);
            }
        });
        if (shown.fields) scene.fields.forEach((_, i) => this.putField(k, i, theme));
        scene.loops.forEach((l, i) => {
            if (!shown.reactions || !this.isThere(k, l.switch)) return;
            const at = 6 * (k * run.head.loops + i), place = this.origin(l.b, [0, 0, 0]);
            if (l.joint === 'contact' && !this.swept(l, k, place, [0, 0, 0])) return;
            this.arrowAt(place, run.loop.subarray(at + 3, at + 6), (ARROW * this.size) / this.most.force, theme.reaction, 1, false);
        });
        scene.contacts.slice(0, run.head.contacts).forEach((c, i) => {
            const at = 6 * (k * run.head.contacts + i);
            if (shown.reactions && c.kind === 'ground') this.groundArrow(c, run.contact.subarray(at, at + 6), theme);
            if (shown.reactions && c.kind === 'rods') this.rodArrow(c, run.contact.subarray(at, at + 6), theme);
            else if (shown.reactions && c.kind !== 'ground' && c.node >= 0) this.obstacleArrow(c, run.contact.subarray(at, at + 6), theme);
        });
        this.shafts.end();
        this.heads.end();
    }

    // A field at some of the points where it acts, each by its own scale, and the magnetic moments there; a dipole is a ball.
    private putField(k: number, field: number, theme: Theme): void {
        const { scene, run } = this, { kind, node, switch: gate } = scene.fields[field];
        if (!this.isThere(k, gate)) return;
        const points = scene.fieldPoints.map((p, i) => ({ p, i })).filter(({ p }) => p[0] === field), few = Math.min(points.length, 14);
        const size = (i: number) => Math.hypot(run.field[3 * i], run.field[3 * i + 1], run.field[3 * i + 2]) || 0;
        const n = scene.fieldPoints.length, moments = points.map(({ p }) => Math.hypot(p[5], p[6], p[7]));
        this.fieldMost[field] = Math.max(this.fieldMost[field] ?? 0, ...points.map(({ i }) => size(k * n + i)));
        const most = this.fieldMost[field], strongest = Math.max(0, ...moments), d = [0, 0, 0], place = [0, 0, 0];
        if (kind === 'dipole' && node >= 0) this.balls.ball(this.origin(node, [0, 0, 0]), this.size / 40, theme.field);
        for (let j = 0; j < few; j++) {
            const { p, i } = points[few > 1 ? Math.round((j * (points.length - 1)) / (few - 1)) : 0];
            this.poses.point(p[1], p[2], p[3], p[4], place);
            if (most > 0) this.arrowAt(place, run.field.subarray(3 * (k * n + i), 3 * (k * n + i) + 3), (0.6 * ARROW * this.size) / most, theme.field, 1, false);
            this.poses.turn(p[1], p[5], p[6], p[7], d);
            if (strongest > 0) this.arrowAt(place, Float32Array.from(d), (0.4 * ARROW * this.size) / strongest, theme.moment, 1, false);
        }
    }

    // force of the ground, where its line of action meets the ground: p = f x m/f^2 lies on that line
    private groundArrow(c: ContactScene, w: Float32Array, theme: Theme): void {
        const m = new THREE.Vector3(w[0], w[1], w[2]), f = new THREE.Vector3(w[3], w[4], w[5]);
        const normal = new THREE.Vector3().fromArray(c.normal), push = f.dot(normal);
        if (!(push > 0.02 * this.most.ground)) return;
        const p = new THREE.Vector3().crossVectors(f, m).divideScalar(f.lengthSq());
        const away = new THREE.Vector3().fromArray(c.at).sub(p).dot(normal) / push;
        p.addScaledVector(f, away);
        if (this.box.distanceToPoint(p) > this.size) return;
        const longest = 0.9 * this.size, length = Math.min((0.16 * this.size * f.length()) / this.most.ground, longest);
        this.arrowAt(p.toArray(), w.subarray(3, 6), length / f.length(), theme.reaction, 1, false);
    }

    // what others exert on the first of the rods that touch each other, from the point of the line of action next to its nodes
    private rodArrow(c: ContactScene, w: Float32Array, theme: Theme): void {
        const m = new THREE.Vector3(w[0], w[1], w[2]), f = new THREE.Vector3(w[3], w[4], w[5]), force = f.length();
        const rod = this.scene.links.find((l) => l.name === c.link)?.rod;
        if (!rod || !(force > 0.02 * this.most.ground)) return;
        const p = new THREE.Vector3().crossVectors(f, m).divideScalar(f.lengthSq()), way = f.clone().divideScalar(force);
        const node = new THREE.Vector3(), near = new THREE.Vector3();
        let least = Infinity, place: number[] = [];
        for (let i = -1; i < rod.count; i++) {
            node.fromArray(this.origin(i < 0 ? rod.root : rod.first + i, [0, 0, 0]));
            near.copy(p).addScaledVector(way, node.clone().sub(p).dot(way));
            if (near.distanceTo(node) < least) {
                least = near.distanceTo(node);
                place = near.toArray();
            }
        }
        this.arrowAt(place, w.subarray(3, 6), Math.min((0.16 * this.size) / this.most.ground, (0.9 * this.size) / force), theme.reaction, 1, false);
    }

    // what an obstacle exerts, from the point of the line of action next to its centre, on its surface where that is a ball or a cylinder
    private obstacleArrow(c: ContactScene, w: Float32Array, theme: Theme): void {
        const m = new THREE.Vector3(w[0], w[1], w[2]), f = new THREE.Vector3(w[3], w[4], w[5]), force = f.length();
        if (!(force > 0.02 * this.most.ground)) return;
        const p = new THREE.Vector3().crossVectors(f, m).divideScalar(f.lengthSq()), way = f.clone().divideScalar(force);
        const centre = new THREE.Vector3().fromArray(this.origin(c.node, [0, 0, 0]));
        p.addScaledVector(way, centre.sub(p).dot(way));
        if (!c.inside && c.kind !== 'torus') p.addScaledVector(way, c.radius);
        if (c.inside) p.addScaledVector(way, -c.radius);
        if (this.box.distanceToPoint(p) > 2 * this.size) return;
        this.arrowAt(p.toArray(), w.subarray(3, 6), Math.min((0.16 * this.size) / this.most.ground, (0.9 * this.size) / force), theme.reaction, 1, false);
    }

    // from the node, or with its tip at the node for a pushing force
    private arrow(node: number, v: Float32Array, perUnit: number, colour: number, heads: number, ends: boolean): void {
        this.arrowAt(this.origin(node, [0, 0, 0]), v, perUnit, colour, heads, ends);
    }

    private arrowAt(at: number[], v: Float32Array, perUnit: number, colour: number, heads: number, ends: boolean): void {
        const length = Math.hypot(v[0], v[1], v[2]) * perUnit;
        if (!(length > this.size / 300) || !Number.isFinite(length)) return;
        const d = [v[0], v[1], v[2]].map((x) => (x * perUnit) / length);
        const r = this.size / 150, head = Math.min(3.4 * r, 0.6 * length);
        const tail = ends ? at.map((x, i) => x - length * d[i]) : at;
        const tip = tail.map((x, i) => x + length * d[i]);
        this.shafts.bar(tail, tip.map((x, i) => x - 0.9 * head * d[i]), 0.42 * r, colour);
        for (let h = 0; h < heads; h++) this.heads.cone(tip.map((x, i) => x - 0.7 * h * head * d[i]), d, 1.25 * r * (head / (3.4 * r)), head, colour);
    }

    private putAxes(shown: Shown): void {
        this.axes.visible = shown.frames;
        this.marks.visible = shown.sites;
        const put = (lines: THREE.LineSegments, i: number, at: number, g: Float64Array, length: number) => {
            const p = lines.geometry.attributes.position as THREE.BufferAttribute, d = [0, 0, 0];
            for (let c = 0; c < 3; c++) {
                rotate(g[at + 3], g[at + 4], g[at + 5], g[at + 6], c === 0 ? length : 0, c === 1 ? length : 0, c === 2 ? length : 0, d);
                p.setXYZ(6 * i + 2 * c, g[at], g[at + 1], g[at + 2]);
                p.setXYZ(6 * i + 2 * c + 1, g[at] + d[0], g[at + 1] + d[1], g[at + 2] + d[2]);
            }
            p.needsUpdate = true;
        };
        if (shown.frames) this.framed.forEach((node, i) => put(this.axes, i, this.poses.at(node), this.poses.g, this.size / 14));
        if (shown.sites) this.scene.sites.forEach((_, i) => put(this.marks, i, 0, this.site(i), this.size / 24));
    }

    // nodes whose frames are drawn: the world, and the ends of the links
    private get framed(): number[] {
        return [-1, ...this.scene.links.map((l) => l.end)];
    }

    // Names of frames and sites that are shown, and their points in the world.
    names(shown: Shown): { name: string; at: number[] }[] {
        const frames = shown.frames ? this.framed.map((node, i) => ({ name: i ? this.scene.links[i - 1].name : 'world', node })) : [];
        return [
            ...frames.filter((f) => f.node < 0 || !this.gone[f.node]).map((f) => ({ name: f.name, at: this.origin(f.node, [0, 0, 0]) })),
            ...(shown.sites ? this.scene.sites.map((s, i) => ({ name: s.name, at: Array.from(this.site(i).subarray(0, 3)) })) : []),
        ];
    }

    // the pose of a named site, x y z qw qx qy qz
    site(i: number): Float64Array {
        const s = this.scene.sites[i], g = this.poses.g, here = this.here;
        relativeLog(g, this.poses.at(s.a), this.poses.at(s.b), this.log);
        advance(g, this.poses.at(s.a), this.log, s.share, here);
        const [w, x, y, z] = here.subarray(3, 7), [tw, tx, ty, tz] = s.turn, d = rotate(w, x, y, z, s.at[0], s.at[1], s.at[2], [0, 0, 0]);
        for (let c = 0; c < 3; c++) here[c] += d[c];
        here[3] = w * tw - x * tx - y * ty - z * tz;
        here[4] = w * tx + x * tw + y * tz - z * ty;
        here[5] = w * ty - x * tz + y * tw + z * tx;
        here[6] = w * tz + x * ty - y * tx + z * tw;
        return here;
    }

    // mean position of the nodes, for a camera that follows
    centre(out: THREE.Vector3): THREE.Vector3 {
        const g = this.poses.g;
        let n = 0;
        out.set(0, 0, 0);
        for (let i = 0; i < this.run.head.nodes; i++) {
            if (this.left[i]) continue;
            out.add(new THREE.Vector3(g[7 * i], g[7 * i + 1], g[7 * i + 2]));
            n++;
        }
        return out.divideScalar(Math.max(n, 1));
    }

    dispose(): void {
        for (const r of this.rods) r.dispose();
        for (const b of this.bodies) b.mesh.geometry.dispose();
        for (const o of this.obstacles) o.mesh.geometry.dispose();
        for (const t of this.trails) {
            t.path.geometry.dispose();
            t.past.geometry.dispose();
        }
        for (const i of [this.struts, this.tendons, this.springs, this.chambers, this.shafts, this.heads, this.balls, this.dots, this.gaps]) i.dispose();
        this.axes.geometry.dispose();
        this.marks.geometry.dispose();
        for (const m of this.materials) m.dispose();
    }
}
