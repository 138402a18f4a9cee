// SPDX-License-Identifier: MIT
//
// The scene as vectors: visible triangles and lines, shaded, from the farthest to the nearest. Large triangles are divided first, so
// that the order of their centres is that of their parts.
import * as THREE from 'three';
import type { Pen } from './pen';

const EDGE = 36; // longer edges are divided, pixels
const THIN = 1.5; // radius of bars and balls that are drawn as lines, pixels
export const MOST = 80000; // triangles; a scene with more is no drawing

interface Piece {
    depth: number;
    points: number[]; // x y in pixels: three points of a triangle, two of a line
    colour: string;
    width: number; // of a line
}

const hex = (c: number[]) => `#${c.map((x) => (Math.min(Math.max(Math.round(x * 51), 0), 51) * 5).toString(16).padStart(2, '0')).join('')}`;

export class Vectors {
    private readonly pieces: Piece[] = [];
    private readonly toClip: THREE.Matrix4;
    private readonly light: THREE.Vector3;

    private readonly left: number;
    private readonly top: number;
    private readonly width: number;
    private readonly height: number;

    // `sun`: direction towards the light; `tile`: the part of the picture, pixels
    constructor(private readonly camera: THREE.PerspectiveCamera, sun: THREE.Vector3, private readonly up: THREE.Vector3, tile: { x: number; y: number; width: number; height: number }) {
        [this.left, this.top, this.width, this.height] = [tile.x, tile.y, tile.width, tile.height];
        camera.updateMatrixWorld();
        this.toClip = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
        this.light = sun.clone().normalize();
    }

    get size(): number {
        return this.pieces.length;
    }

    // pixels and distance of a point; null: it is behind the camera
    private place(p: THREE.Vector3): [number, number, number] | null {
        const v = new THREE.Vector4(p.x, p.y, p.z, 1).applyMatrix4(this.toClip);
        if (!(v.w > this.camera.near)) return null;
        return [this.left + (0.5 + (0.5 * v.x) / v.w) * this.width, this.top + (0.5 - (0.5 * v.y) / v.w) * this.height, v.w];
    }

    add(root: THREE.Object3D): void {
        root.updateMatrixWorld();
        root.traverseVisible((o) => {
            const mesh = o as THREE.Mesh, material = mesh.material as THREE.MeshStandardMaterial;
            if (!mesh.geometry || this.size > MOST || material.depthFunc === THREE.GreaterDepth) return;
            if ((o as unknown as { isLine2?: boolean }).isLine2) this.addSegments(mesh, material);
            else if ((o as THREE.InstancedMesh).isInstancedMesh) this.addInstances(o as THREE.InstancedMesh, material);
            else if (mesh.isMesh) this.addMesh(mesh.geometry, mesh.matrixWorld, material, material.color);
            else if ((o as THREE.Line).isLine) this.addLine(o as THREE.Line, material);
        });
    }

    private addInstances(mesh: THREE.InstancedMesh, material: THREE.MeshStandardMaterial): void {
        const m = new THREE.Matrix4(), colour = new THREE.Color();
        for (let i = 0; i < mesh.count; i++) {
            mesh.getMatrixAt(i, m);
            if (mesh.instanceColor) mesh.getColorAt(i, colour);
            else colour.copy(material.color);
            m.premultiply(mesh.matrixWorld);
            if (!this.addThin(mesh.geometry, m, material, colour)) this.addMesh(mesh.geometry, m, material, colour);
        }
    }

    // A thin bar is a line, a small ball a short one; false: it is neither.
    private addThin(geometry: THREE.BufferGeometry, world: THREE.Matrix4, material: THREE.MeshStandardMaterial, colour: THREE.Color): boolean {
        const scale = new THREE.Vector3().setFromMatrixScale(world), centre = new THREE.Vector3().setFromMatrixPosition(world), place = this.place(centre);
        const bar = geometry.type === 'CylinderGeometry';
        if (!place || !(bar || geometry.type === 'SphereGeometry')) return false;
        const radius = (scale.x * this.camera.projectionMatrix.elements[5] * this.height) / (2 * place[2]);
        if (radius > THIN) return false;
        const along = new THREE.Vector3().setFromMatrixColumn(world, 1).multiplyScalar(bar ? 0.5 : 0.01);
        const shaded = colour.clone().multiplyScalar(material.isMeshStandardMaterial ? 0.8 : 1);
        this.addSegment(centre.clone().sub(along), centre.add(along), shaded, material.transparent ? material.opacity : 1, 2 * radius);
        return true;
    }

    private addMesh(geometry: THREE.BufferGeometry, world: THREE.Matrix4, material: THREE.MeshStandardMaterial, base: THREE.Color): void {
        const at = geometry.attributes.position, tint = material.vertexColors ? geometry.attributes.color : undefined, { index } = geometry;
        const corner = [0, 1, 2].map(() => new THREE.Vector3()), n = index ? index.count : at.count, linear = new THREE.Color();
        for (let i = 0; i + 2 < n; i += 3) {
            const v = [0, 1, 2].map((c) => (index ? index.getX(i + c) : i + c));
            corner.forEach((p, c) => p.fromBufferAttribute(at, v[c]).applyMatrix4(world));
            linear.copy(base);
            if (tint) linear.setRGB(...([0, 1, 2].map((c) => (tint.getComponent(v[0], c) + tint.getComponent(v[1], c) + tint.getComponent(v[2], c)) / 3) as [number, number, number]));
            this.addTriangle(corner, this.shaded(corner, linear, material), material.side);
        }
    }

    // colour of a triangle whose front is seen, with its opacity
    private shaded(corner: THREE.Vector3[], linear: THREE.Color, material: THREE.MeshStandardMaterial): string {
        const normal = corner[1].clone().sub(corner[0]).cross(corner[2].clone().sub(corner[0])).normalize();
        if (normal.dot(this.camera.position.clone().sub(corner[0])) < 0) normal.negate();
        const lit = material.isMeshStandardMaterial ? 0.5 + 0.16 * normal.dot(this.up) + 0.45 * Math.max(normal.dot(this.light), 0) : 1;
        const { r, g, b } = linear.clone().multiplyScalar(lit).convertLinearToSRGB();
        return hex([r, g, b]) + (material.transparent ? Math.round(255 * material.opacity).toString(16).padStart(2, '0') : '');
    }

    private addTriangle(corner: THREE.Vector3[], colour: string, side: THREE.Side): void {
        const points = corner.map((p) => this.place(p));
        if (!points[0] || !points[1] || !points[2] || this.size > MOST) return;
        const [[x0, y0, d0], [x1, y1, d1], [x2, y2, d2]] = points as [number, number, number][];
        // twice its area, positive if its front is seen (y points down)
        const area = (x2 - x0) * (y1 - y0) - (x1 - x0) * (y2 - y0);
        if (Math.abs(area) < 1e-3 || (side === THREE.FrontSide && area < 0) || (side === THREE.BackSide && area > 0)) return;
        if (Math.max(x0, x1, x2) < this.left || Math.min(x0, x1, x2) > this.left + this.width || Math.max(y0, y1, y2) < this.top || Math.min(y0, y1, y2) > this.top + this.height) return;
        const edges = [Math.hypot(x1 - x0, y1 - y0), Math.hypot(x2 - x1, y2 - y1), Math.hypot(x0 - x2, y0 - y2)], long = edges.indexOf(Math.max(...edges));
        if (edges[long] > EDGE) {
            const [a, b, c] = [corner[long], corner[(long + 1) % 3], corner[(long + 2) % 3]], middle = a.clone().lerp(b, 0.5);
            this.addTriangle([a, middle, c], colour, side);
            this.addTriangle([middle, b, c], colour, side);
            return;
        }
        this.pieces.push({ depth: (d0 + d1 + d2) / 3, points: [x0, y0, x1, y1, x2, y2], colour, width: 0 });
    }

    private addSegment(a: THREE.Vector3, b: THREE.Vector3, linear: THREE.Color, opacity: number, width: number): void {
        const p = this.place(a), q = this.place(b);
        if (!p || !q || this.size > MOST) return;
        const { r, g, b: blue } = linear.clone().convertLinearToSRGB();
        this.pieces.push({ depth: (p[2] + q[2]) / 2, points: [p[0], p[1], q[0], q[1]], colour: hex([r, g, blue]) + (opacity < 1 ? Math.round(255 * opacity).toString(16).padStart(2, '0') : ''), width });
    }

    private addLine(line: THREE.Line, material: THREE.MeshStandardMaterial): void {
        const at = line.geometry.attributes.position, tint = material.vertexColors ? line.geometry.attributes.color : undefined;
        const step = (line as THREE.LineSegments).isLineSegments ? 2 : 1, a = new THREE.Vector3(), b = new THREE.Vector3(), linear = new THREE.Color();
        const { start, count } = line.geometry.drawRange, end = Math.min(at.count, start + count);
        for (let i = start; i + 1 < end; i += step) {
            if (tint) linear.fromBufferAttribute(tint as THREE.BufferAttribute, i);
            else linear.copy(material.color);
            this.addSegment(a.fromBufferAttribute(at, i).applyMatrix4(line.matrixWorld), b.fromBufferAttribute(at, i + 1).applyMatrix4(line.matrixWorld), linear, material.transparent ? material.opacity : 1, step === 2 ? 1.6 : 1);
        }
    }

    // a wide line, whose ends are attributes of instances
    private addSegments(mesh: THREE.Mesh, material: THREE.MeshStandardMaterial): void {
        const geometry = mesh.geometry as THREE.InstancedBufferGeometry, { instanceStart, instanceEnd } = geometry.attributes;
        const a = new THREE.Vector3(), b = new THREE.Vector3(), n = Math.min(instanceStart.count, geometry.instanceCount);
        for (let i = 0; i < n; i++) this.addSegment(a.fromBufferAttribute(instanceStart, i), b.fromBufferAttribute(instanceEnd, i), material.color, material.opacity, 2);
    }

    // Lines of the floor that lie under everything else; `opacity` of each point of the floor.
    grid(pen: Pen, lines: [THREE.Vector3, THREE.Vector3, number][], colour: number): void {
        const css = `#${colour.toString(16).padStart(6, '0')}`;
        for (const [a, b, opacity] of lines) {
            const p = this.place(a), q = this.place(b);
            if (!p || !q || opacity < 0.02) continue;
            pen.line(p[0], p[1], q[0], q[1], css + Math.round(255 * opacity).toString(16).padStart(2, '0'), 0.8);
        }
    }

    // Neighbours of one colour become one path; thin strokes cover the seams between opaque ones.
    draw(raw: (element: string) => void): void {
        const fixed = (x: number) => String(Math.round(10 * x) / 10), order = this.pieces.sort((a, b) => b.depth - a.depth);
        for (let i = 0; i < order.length;) {
            const { colour, width } = order[i];
            let d = '';
            for (; i < order.length && order[i].colour === colour && order[i].width === width; i++) {
                const p = order[i].points.map(fixed);
                d += width > 0 ? `M${p[0]} ${p[1]}L${p[2]} ${p[3]}` : `M${p[0]} ${p[1]}L${p[2]} ${p[3]} ${p[4]} ${p[5]}Z`;
            }
            if (width > 0) raw(`<path d="${d}" stroke="${colour}" stroke-width="${fixed(width)}" stroke-linecap="round"/>`);
            else raw(`<path d="${d}" fill="${colour}"${colour.length > 7 ? '' : ` stroke="${colour}" stroke-width=".6"`}/>`);
        }
    }
}
