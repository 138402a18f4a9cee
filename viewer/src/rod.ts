// SPDX-License-Identifier: MIT
//
// A rod as an extruded section. Rings lie along the screws between its stations; the quantities that colour them are computed
// from the relative poses of neighbouring stations.
import * as THREE from 'three';
import { scale } from './colour';
import { advance, Poses, relativeLog } from './pose';
import type { RodScene } from './scene';
import type { SectionState } from './section';

const SINGLE = 2 ** -23; // spacing of numbers of single precision about one

export type Quantity = 'plain' | 'curvature' | 'strain' | 'stress';

interface Outline {
    y: number;
    z: number;
    ny: number;
    nz: number;
}

// Rim of a section with half widths one; corners occur twice, with the normals of both sides.
function outline(rectangle: boolean): Outline[] {
    if (rectangle) {
        const out: Outline[] = [];
        const side = [[1, 0], [0, 1], [-1, 0], [0, -1]];
        for (const [ny, nz] of side) {
            out.push({ y: ny + nz, z: nz - ny, ny, nz }, { y: ny - nz, z: nz + ny, ny, nz });
        }
        return out;
    }
    const n = 20;
    return Array.from({ length: n + 1 }, (_, i) => {
        const a = (2 * Math.PI * i) / n;
        return { y: Math.cos(a), z: Math.sin(a), ny: Math.cos(a), nz: Math.sin(a) };
    });
}

export class Rod {
    readonly mesh: THREE.Mesh;
    widest: number; // half width, m
    readonly told: boolean; // its section has a known shape
    magnify = 1;
    private readonly geometry = new THREE.BufferGeometry();
    private readonly rim: Outline[];
    private readonly half: [number, number][];
    private readonly stations: number[];
    private readonly pieces: { from: number; to: number; cuts: number }[] = [];
    private readonly rings: number;
    private readonly log = new Float64Array(6);
    private readonly here = new Float64Array(7);
    private readonly position: Float32Array;
    private readonly normal: Float32Array;
    private readonly colour: Float32Array;

    constructor(readonly scene: RodScene, material: THREE.Material) {
        this.rim = outline(scene.rectangle);
        this.stations = [scene.root, ...Array.from({ length: scene.count }, (_, i) => scene.first + i)];
        this.half = scene.half.map(([y, z]) => [y, z]);
        this.widest = Math.max(...this.half.map(([y, z]) => Math.max(y, z)));
        this.told = this.widest > 0;
        for (let i = 0; i < scene.count; i++) {
            if (scene.x[i + 1] - scene.x[i] > 1e-9 * (scene.length || 1)) this.pieces.push({ from: i, to: i + 1, cuts: 1 });
        }
        const cuts = Math.max(1, Math.min(8, Math.ceil(120 / Math.max(this.pieces.length, 1))));
        for (const p of this.pieces) p.cuts = cuts;
        this.rings = this.pieces.length * cuts + 1;
        const rim = this.rim.length, caps = 2 * (rim + 1);
        const vertices = this.rings * rim + caps;
        this.position = new Float32Array(3 * vertices);
        this.normal = new Float32Array(3 * vertices);
        this.colour = new Float32Array(3 * vertices);
        this.geometry.setAttribute('position', new THREE.BufferAttribute(this.position, 3).setUsage(THREE.DynamicDrawUsage));
        this.geometry.setAttribute('normal', new THREE.BufferAttribute(this.normal, 3).setUsage(THREE.DynamicDrawUsage));
        this.geometry.setAttribute('color', new THREE.BufferAttribute(this.colour, 3).setUsage(THREE.DynamicDrawUsage));
        this.geometry.setIndex(this.triangles());
        this.mesh = new THREE.Mesh(this.geometry, material);
        this.mesh.castShadow = true;
        this.mesh.receiveShadow = true;
        this.mesh.frustumCulled = false;
    }

    // half width at its root, m
    get root(): number {
        return Math.max(...this.half[0]);
    }

    // An unknown section is drawn as a line of fixed width.
    assume(half: number): void {
        this.widest = half;
        for (const h of this.half) h[0] = h[1] = half;
    }

    private triangles(): number[] {
        const rim = this.rim.length, index: number[] = [];
        const step = this.scene.rectangle ? 2 : 1;
        for (let r = 0; r + 1 < this.rings; r++) {
            for (let i = 0; i + 1 < rim; i += step) {
                const a = r * rim + i, b = a + rim;
                index.push(a, a + 1, b, a + 1, b + 1, b);
            }
        }
        for (let end = 0; end < 2; end++) {
            const centre = this.rings * rim + end * (rim + 1);
            for (let i = 0; i < rim; i++) {
                const a = centre + 1 + i, b = centre + 1 + ((i + 1) % rim);
                if (end) index.push(centre, a, b);
                else index.push(centre, b, a);
            }
        }
        return index;
    }

    // this.log <- mean strain of a piece less the rest strain
    private strain(g: Float64Array, poses: Poses, p: { from: number; to: number }): number {
        relativeLog(g, poses.at(this.stations[p.from]), poses.at(this.stations[p.to]), this.log);
        // stations of a variable-length rod move apart with its free length
        return this.scene.fed ? Math.hypot(this.log[3], this.log[4], this.log[5]) || 1 : this.scene.x[p.to] - this.scene.x[p.from];
    }

    // Of a piece: bending and twist (1/m), the largest normal strain in its section, or the stress there
    // (Pa) by its stiffness.
    private measure(p: { from: number; to: number }, h: number, quantity: Quantity): number {
        const s = this.scene, rest = (i: number) => 0.5 * (s.rest[p.from][i] + s.rest[p.to][i]);
        const bendY = this.log[1] / h - rest(1), bendZ = this.log[2] / h - rest(2), stretch = this.log[3] / h - rest(3);
        if (quantity === 'curvature') return Math.hypot(this.log[0] / h - rest(0), bendY, bendZ);
        const [ya, za] = this.half[p.from], [yb, zb] = this.half[p.to];
        const y = 0.5 * (ya + yb), z = 0.5 * (za + zb);
        // largest bending strain: in a corner of a rectangle, on the rim of an ellipse where both parts combine as a root of squares
        const round = !s.rectangle;
        const bend = round ? Math.hypot(bendY * z, bendZ * y) : Math.abs(bendY * z) + Math.abs(bendZ * y);
        if (quantity === 'strain') return Math.abs(stretch) + bend;
        const hole = 0.5 * (s.half[p.from][2] + s.half[p.to][2]);
        const area = (round ? Math.PI * y * z : 4 * y * z) * (1 - hole ** 2);
        const iy = (round ? Math.PI / 4 : 4 / 3) * y * z ** 3 * (1 - hole ** 4);
        const k = (i: number) => 0.5 * (s.stiffness[p.from][i] + s.stiffness[p.to][i]);
        // Young's modulus, from the bending stiffness
        const young = iy > 0 ? k(1) / iy : 0, axial = area > 0 ? k(3) / area : 0;
        return (axial || young) * Math.abs(stretch) + young * bend;
    }

    // State at a fraction of the length. Strains are means between stations, linear from the middle of one piece to that of the next.
    section(poses: Poses, share: number): SectionState | null {
        const s = this.scene, x = share * s.x[s.count], i = Math.max(0, this.pieces.findIndex((p) => x <= s.x[p.to])), p = this.pieces[i];
        if (!p) return null;
        const middle = (q: { from: number; to: number }) => (s.x[q.from] + s.x[q.to]) / 2;
        const mean = (q: { from: number; to: number }) => {
            const h = this.strain(poses.g, poses, q);
            return Array.from(this.log, (v) => v / h);
        };
        const next = this.pieces[x < middle(p) ? i - 1 : i + 1], here = mean(p), toward = next ? (x - middle(p)) / (middle(next) - middle(p)) : 0, beyond = next ? mean(next) : here;
        const f = (x - s.x[p.from]) / (s.x[p.to] - s.x[p.from]), at = (rows: number[][], c: number) => rows[p.from][c] + f * (rows[p.to][c] - rows[p.from][c]);
        const six = (rows: number[][]) => [0, 1, 2, 3, 4, 5].map((c) => at(rows, c)), half: [number, number] = [at(s.half, 0), at(s.half, 1)], pose = new Float64Array(7);
        this.strain(poses.g, poses, p);
        advance(poses.g, poses.at(this.stations[p.from]), this.log, f, pose);
        // rounding of both ends: relative to one for rotations, to the extent of the rod for positions
        const step = s.x[p.to] - s.x[p.from], turn = (2 * SINGLE) / step, shift = turn * Math.max(s.x[s.count], step);
        return {
            noise: [turn, turn, turn, shift, shift, shift],
            x, rectangle: s.rectangle, half, hole: at(s.half, 2), strain: here.map((v, c) => v + toward * (beyond[c] - v)), rest: six(s.rest), stiffness: six(s.stiffness), free: s.free,
            radius: this.magnify * Math.max(at(this.half, 0), at(this.half, 1)), pose,
        };
    }

    // Fraction of the length at which a ray hits its surface, and the distance; null: it misses.
    hit(ray: THREE.Raycaster): { share: number; distance: number } | null {
        this.geometry.computeBoundingSphere();
        const [first] = this.mesh.visible ? ray.intersectObject(this.mesh, false) : [];
        if (!first?.face) return null;
        const rim = this.rim.length, { x, count } = this.scene, ring = Math.floor(first.face.a / rim);
        if (first.face.a >= this.rings * rim) return { share: first.face.a >= this.rings * rim + rim + 1 ? 1 : 0, distance: first.distance };
        const { cuts } = this.pieces[0], p = this.pieces[Math.min(Math.floor(ring / cuts), this.pieces.length - 1)];
        return { share: (x[p.from] + ((ring % cuts) / cuts) * (x[p.to] - x[p.from])) / (x[count] || 1), distance: first.distance };
    }

    // The largest value at one frame.
    largest(poses: Poses, quantity: Quantity): number {
        let most = 0;
        for (const p of this.pieces) {
            const h = this.strain(poses.g, poses, p);
            const value = this.measure(p, h, quantity);
            if (value > most) most = value;
        }
        return most;
    }

    update(poses: Poses, quantity: Quantity, most: number, plain: number[]): void {
        let ring = 0;
        const colour = [0, 0, 0];
        const value: number[] = this.pieces.map((p) => (quantity === 'plain' ? 0 : this.measure(p, this.strain(poses.g, poses, p), quantity)));
        this.pieces.forEach((p, i) => {
            this.strain(poses.g, poses, p);
            const log = this.log, at = poses.at(this.stations[p.from]);
            const last = i + 1 === this.pieces.length;
            // colours are interpolated between pieces
            const before = i > 0 ? 0.5 * (value[i - 1] + value[i]) : value[i];
            const behind = last ? value[i] : 0.5 * (value[i] + value[i + 1]);
            for (let c = 0; c < p.cuts + (last ? 1 : 0); c++) {
                const f = c / p.cuts;
                advance(poses.g, at, log, f, this.here);
                const mean = f < 0.5 ? before + 2 * f * (value[i] - before) : value[i] + (2 * f - 1) * (behind - value[i]);
                if (quantity === 'plain') colour[0] = plain[0], colour[1] = plain[1], colour[2] = plain[2];
                else srgb(scale(most > 0 ? mean / most : 0, colour));
                this.lay(ring++, p, f, colour);
            }
        });
        this.close();
        this.geometry.attributes.position.needsUpdate = true;
        this.geometry.attributes.normal.needsUpdate = true;
        this.geometry.attributes.color.needsUpdate = true;
    }

    // one ring at this.here
    private lay(ring: number, p: { from: number; to: number }, f: number, colour: number[]): void {
        const [ya, za] = this.half[p.from], [yb, zb] = this.half[p.to], m = this.magnify;
        const y = m * Math.max(ya + f * (yb - ya), 1e-3 * this.widest), z = m * Math.max(za + f * (zb - za), 1e-3 * this.widest);
        const [px, py, pz, w, a, b, c] = this.here;
        // axes y and z of the section
        const y0 = 2 * (a * b - w * c), y1 = 1 - 2 * (a * a + c * c), y2 = 2 * (b * c + w * a);
        const z0 = 2 * (a * c + w * b), z1 = 2 * (b * c - w * a), z2 = 1 - 2 * (a * a + b * b);
        let at = 3 * ring * this.rim.length;
        for (const o of this.rim) {
            const u = o.y * y, v = o.z * z;
            let nu = o.ny / y, nv = o.nz / z;
            const norm = 1 / Math.hypot(nu, nv);
            nu *= norm, nv *= norm;
            this.position[at] = px + u * y0 + v * z0;
            this.position[at + 1] = py + u * y1 + v * z1;
            this.position[at + 2] = pz + u * y2 + v * z2;
            this.normal[at] = nu * y0 + nv * z0;
            this.normal[at + 1] = nu * y1 + nv * z1;
            this.normal[at + 2] = nu * y2 + nv * z2;
            this.colour[at] = colour[0];
            this.colour[at + 1] = colour[1];
            this.colour[at + 2] = colour[2];
            at += 3;
        }
    }

    // flat ends: the first and last ring again, with normals along the rod
    private close(): void {
        const rim = this.rim.length;
        for (let end = 0; end < 2; end++) {
            const from = end ? (this.rings - 1) * rim : 0, next = end ? from - rim : from + rim;
            const centre = this.rings * rim + end * (rim + 1);
            const mid = [0, 0, 0], beyond = [0, 0, 0];
            for (let i = 0; i < rim; i++) {
                for (let c = 0; c < 3; c++) {
                    mid[c] += this.position[3 * (from + i) + c] / rim;
                    beyond[c] += this.rings > 1 ? this.position[3 * (next + i) + c] / rim : 0;
                }
            }
            const n = [mid[0] - beyond[0], mid[1] - beyond[1], mid[2] - beyond[2]];
            const norm = 1 / (Math.hypot(n[0], n[1], n[2]) || 1);
            for (let i = -1; i < rim; i++) {
                const to = 3 * (centre + 1 + i);
                for (let c = 0; c < 3; c++) {
                    this.position[to + c] = i < 0 ? mid[c] : this.position[3 * (from + i) + c];
                    this.normal[to + c] = n[c] * norm;
                    this.colour[to + c] = this.colour[3 * from + c];
                }
            }
        }
    }

    dispose(): void {
        this.geometry.dispose();
    }
}

// vertex colours are in linear colour space
export function srgb(c: number[]): number[] {
    for (let i = 0; i < 3; i++) c[i] = c[i] <= 0.04045 ? c[i] / 12.92 : ((c[i] + 0.055) / 1.055) ** 2.4;
    return c;
}
