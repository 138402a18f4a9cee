// SPDX-License-Identifier: MIT
//
// Axes of the world in a corner of the picture, and gravity if it does not point to the floor.
import * as THREE from 'three';
import type { Theme } from './colour';
import type { Pen } from './pen';

export const axisColours = [0xd94040, 0x4da640, 0x4073e6];

const css = (x: number) => `#${x.toString(16).padStart(6, '0')}`;

function arrow(pen: Pen, x: number, y: number, dx: number, dy: number, colour: string, width: number): void {
    const length = Math.hypot(dx, dy), head = Math.min(7, length);
    if (length < 1) return;
    const ux = dx / length, uy = dy / length, bx = x + dx - head * ux, by = y + dy - head * uy;
    pen.line(x, y, bx, by, colour, width);
    pen.area([x + dx, y + dy, bx - 0.42 * head * uy, by + 0.42 * head * ux, bx + 0.42 * head * uy, by - 0.42 * head * ux], colour);
}

// About (x, y) with arrows of length r. `gravity`: its direction in the world, null: not shown.
export function drawTriad(pen: Pen, camera: THREE.Camera, x: number, y: number, r: number, theme: Theme, gravity: THREE.Vector3 | null): void {
    const toView = new THREE.Quaternion().setFromRotationMatrix(camera.matrixWorld).invert();
    const axes = axisColours.map((colour, i) => ({ name: 'xyz'[i], colour: css(colour), v: new THREE.Vector3().setComponent(i, 1).applyQuaternion(toView) }));
    // arrows towards the viewer are drawn last
    for (const { name, colour, v } of axes.sort((a, b) => a.v.z - b.v.z)) {
        arrow(pen, x, y, r * v.x, -r * v.y, colour, 2);
        const out = Math.hypot(v.x, v.y) > 0.15 ? 1 : 0;
        pen.text(x + (r + 9 * out) * v.x + (out ? 0 : 7), y - (r + 9 * out) * v.y + 4, name, colour, 12, 'middle', true);
    }
    if (!gravity) return;
    const g = gravity.clone().applyQuaternion(toView), colour = css(theme.load);
    arrow(pen, x, y, 1.25 * r * g.x, -1.25 * r * g.y, colour, 3);
    pen.text(x + (1.25 * r + 11) * g.x, y - (1.25 * r + 11) * g.y + 4, 'gravity', colour, 11.5, 'middle', true);
}
