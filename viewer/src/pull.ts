// SPDX-License-Identifier: MIT
//
// Drag spring of the mouse: a spring from a point of the robot to the pointer, in the plane of the picture.
import * as THREE from 'three';
import type { Theme } from './colour';
import { Balls, Bars } from './instances';
import type { Present } from './live';
import type { Robot } from './robot';
import type { Stage } from './stage';
import type { Link } from './wire';

const NEAR = 20; // distance within which a node is selected, pixels

interface Hold {
    node: number;
    at: THREE.Vector3; // in the node's frame
}

export class Pull {
    strength = 1;
    allowed = false;
    private readonly group = new THREE.Group();
    private readonly material = new THREE.MeshBasicMaterial();
    private readonly bars = new Bars(this.material, 2, 8, false);
    private readonly balls = new Balls(this.material, 4, false);
    private robot: Robot | null = null;
    private hold: Hold | null = null;
    private hover: Hold | null = null;
    private readonly plane = new THREE.Plane();
    private to: number[] | null = null; // not sent yet

    constructor(private readonly stage: Stage, box: HTMLElement, private readonly canvas: HTMLCanvasElement, private readonly wire: Link) {
        this.group.add(this.bars.mesh, this.balls.mesh);
        stage.add(this.group);
        // handled before the controls of the camera
        box.addEventListener('pointerdown', (e) => this.down(e), { capture: true });
        box.addEventListener('pointermove', (e) => this.move(e), { capture: true });
        for (const end of ['pointerup', 'pointercancel']) box.addEventListener(end, () => this.drop(), { capture: true });
        canvas.addEventListener('pointerleave', () => (this.hover = null));
    }

    show(robot: Robot): void {
        this.robot = robot;
        this.drop();
    }

    private where(e: PointerEvent): [number, number] {
        const box = this.canvas.getBoundingClientRect();
        return [e.clientX - box.left, e.clientY - box.top];
    }

    // the body under the pointer, or the nearest node that can move
    private find(x: number, y: number): Hold | null {
        const robot = this.robot;
        if (!robot) return null;
        const body = robot.hit(this.stage.ray(x, y));
        if (body && robot.movable(body.node)) return body;
        let best: Hold | null = null, least = NEAR;
        const g = robot.poses.g;
        for (let i = 0; i < robot.poses.nodes; i++) {
            if (!robot.movable(i)) continue;
            const p = this.stage.project(g[7 * i], g[7 * i + 1], g[7 * i + 2]), far = Math.hypot(p.x - x, p.y - y);
            if (far < least) {
                least = far;
                best = { node: i, at: new THREE.Vector3() };
            }
        }
        return best;
    }

    private place(h: Hold): number[] {
        return this.robot!.poses.point(h.node, h.at.x, h.at.y, h.at.z, [0, 0, 0]);
    }

    private down(e: PointerEvent): void {
        if (!this.allowed || e.button !== 0 || e.target !== this.canvas) return;
        const [x, y] = this.where(e);
        this.hold = this.find(x, y);
        if (!this.hold) return;
        e.stopPropagation();
        this.canvas.setPointerCapture(e.pointerId);
        this.plane.setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new THREE.Vector3()), new THREE.Vector3().fromArray(this.place(this.hold)));
        this.aim(x, y);
        this.flush();
    }

    private move(e: PointerEvent): void {
        const [x, y] = this.where(e);
        if (this.hold) {
            e.stopPropagation();
            this.aim(x, y);
        } else if (e.buttons === 0) {
            this.hover = this.allowed && e.target === this.canvas ? this.find(x, y) : null;
            this.canvas.classList.toggle('draggable', this.hover !== null);
        }
    }

    private aim(x: number, y: number): void {
        const p = this.stage.ray(x, y).ray.intersectPlane(this.plane, new THREE.Vector3());
        if (p) this.to = p.toArray();
    }

    drop(): void {
        if (this.hold) this.wire.send({ do: 'drop' });
        this.hold = null;
        this.to = null;
    }

    // Request since the last call; sent at most once a frame.
    flush(): void {
        const { hold } = this;
        if (hold && this.to) this.wire.send({ do: 'pull', node: hold.node, at: hold.at.toArray(), to: this.to, strength: this.strength });
        this.to = null;
    }

    // the spring, or the point that a click would select
    update(now: Present, robot: Robot, theme: Theme): void {
        const r = robot.size / 130;
        this.bars.begin();
        this.balls.begin();
        if (now.node >= 0) {
            this.bars.bar(now.point, now.hand, 0.35 * r, theme.load);
            this.balls.ball(now.point, r, theme.load);
            this.balls.ball(now.hand, 0.8 * r, theme.load);
        } else if (this.hover) {
            this.balls.ball(this.place(this.hover), 1.1 * r, theme.load);
        }
        this.bars.end();
        this.balls.end();
    }
}
