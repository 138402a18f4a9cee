// SPDX-License-Identifier: MIT
//
// Path of a point in the last seconds of a live simulation: a line that fades.
import * as THREE from 'three';
import type { Theme } from './colour';
import type { Present } from './live';
import type { Scene } from './scene';

const POINTS = 150, MOST = 5;

export class Trails {
    readonly group = new THREE.Group();
    private readonly material = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true });
    private readonly lines: { column: number; at: Float32Array; line: THREE.Line; n: number }[] = [];
    private last = -Infinity;

    constructor(now: Present, scene: Scene) {
        const places = new Set(scene.probes.filter((p) => p.place).map((p) => p.name));
        const { columns } = now.run.head;
        const found = columns.map((_, i) => i).filter((i) => columns[i].component === 'x' && columns[i].station < 0 && places.has(columns[i].probe) && columns[i + 1]?.component === 'y' && columns[i + 2]?.component === 'z');
        for (const column of found.slice(-MOST)) {
            const at = new Float32Array(3 * POINTS), geometry = new THREE.BufferGeometry();
            const fade = new Float32Array(4 * POINTS);
            for (let i = 0; i < POINTS; i++) fade.set([1, 1, 1, 0.7 * ((i + 1) / POINTS) ** 1.5], 4 * i);
            geometry.setAttribute('position', new THREE.BufferAttribute(at, 3));
            geometry.setAttribute('color', new THREE.BufferAttribute(fade, 4));
            const line = new THREE.Line(geometry, this.material);
            line.frustumCulled = false;
            this.lines.push({ column, at, line, n: 0 });
            this.group.add(line);
        }
    }

    dress(theme: Theme): void {
        this.material.color.setHex(theme.trail);
    }

    add(now: Present): void {
        if (now.t === this.last) return;
        const anew = now.t < this.last;
        this.last = now.t;
        for (const l of this.lines) {
            if (anew) l.n = 0;
            // the last point is the newest; older ones fade
            l.at.copyWithin(0, 3);
            l.n = Math.min(l.n + 1, POINTS);
            for (let d = 0; d < 3; d++) l.at[3 * POINTS - 3 + d] = now.columns[l.column + d];
        }
    }

    show(shown: boolean): void {
        this.group.visible = shown;
        for (const l of this.lines) {
            l.line.geometry.setDrawRange(POINTS - l.n, l.n);
            l.line.geometry.attributes.position.needsUpdate = true;
        }
    }

    dispose(): void {
        for (const l of this.lines) l.line.geometry.dispose();
        this.material.dispose();
    }
}
