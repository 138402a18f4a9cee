// SPDX-License-Identifier: MIT
//
// Surroundings of the robot: camera with its controls, light, ground.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Theme } from './colour';
import { decade } from './format';
import type { SvgPen } from './pen';
import { contactKinds, type Robot } from './robot';
import { spread } from './spread';
import { MOST, Vectors } from './vectors';

const flat = 0.08; // a smaller extent, relative to the largest one, counts as zero

// A part of the picture, pixels from the left and from the top, and the robots in it.
interface Tile {
    robots: Robot[];
    x: number;
    y: number;
    width: number;
    height: number;
}

export type Preset = 'front' | 'side' | 'top' | 'free';

const gridVertex = `
varying vec3 at;
void main() {
    vec4 w = modelMatrix * vec4(position, 1.0);
    at = position;
    gl_Position = projectionMatrix * viewMatrix * w;
}`;

// grid lines of constant width on the screen, every fifth stronger, fading towards the rim
const gridFragment = `
uniform vec3 colour;
uniform float cell, reach, strength;
varying vec3 at;
float lines(float size) {
    vec2 p = at.xy / size, width = fwidth(p);
    vec2 d = abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-6));
    float fine = clamp(0.6 / max(width.x, width.y) * 0.25, 0.0, 1.0);
    return (1.0 - min(min(d.x, d.y), 1.0)) * fine;
}
void main() {
    float fade = 1.0 - smoothstep(0.25 * reach, reach, length(at.xy));
    float a = max(0.45 * lines(cell), lines(5.0 * cell));
    gl_FragColor = vec4(colour, a * fade * strength);
    #include <colorspace_fragment>
}`;

export class Stage {
    readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    readonly controls: OrbitControls;
    private preset: Preset | null = null; // the side looked from, until the mouse moves the camera
    private readonly renderer: THREE.WebGLRenderer;
    private readonly scene = new THREE.Scene();
    private readonly sun = new THREE.DirectionalLight(0xfff4e6, 2.4);
    private readonly rim = new THREE.DirectionalLight(0xd6e6ff, 0.7);
    private readonly sky = new THREE.HemisphereLight(0xffffff, 0xcfc7ba, 1.5);
    private readonly ground = new THREE.Group();
    private readonly shade = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ transparent: true, depthWrite: false }));
    private readonly grid: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
    private robot: Robot | null = null;
    private other: Robot | null = null; // of another run
    private family: Robot[] = []; // of other rows of a sweep, each in a tile of its own
    private enlarged = false; // a picture of another size is being drawn
    private split = false; // the other one has its own half of the picture
    private readonly floor = new THREE.Vector3(0, 0, 1); // normal of the floor
    private readonly up = new THREE.Vector3(0, 0, 1);
    private readonly last = new THREE.Vector3();
    cell = 1; // cell of the grid, m
    private foot = 0; // share of the picture below the tiles of a family, for notes
    following = false;
    dirty = true;

    constructor(canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
        this.renderer.toneMapping = THREE.NoToneMapping;
        this.camera.up.copy(this.up);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.enableDamping = false;
        this.controls.addEventListener('change', () => (this.dirty = true));
        this.controls.addEventListener('start', () => (this.preset = null));
        this.grid = new THREE.Mesh(
            new THREE.PlaneGeometry(1, 1),
            new THREE.ShaderMaterial({
                vertexShader: gridVertex, fragmentShader: gridFragment, transparent: true, depthWrite: false, side: THREE.DoubleSide,
                uniforms: { colour: { value: new THREE.Color() }, cell: { value: 1 }, reach: { value: 1 }, strength: { value: 0.5 } },
            }),
        );
        this.shade.receiveShadow = true;
        this.shade.renderOrder = -2; // both lie in one plane: fixed order, before transparent parts
        this.grid.renderOrder = -1;
        this.ground.add(this.grid, this.shade);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(1024, 1024);
        this.sun.shadow.radius = 6;
        this.sun.shadow.bias = -0.0004;
        this.scene.add(this.sky, this.sun, this.sun.target, this.rim, this.ground);
    }

    // Up is against gravity, along the nearest axis; without gravity a robot in the plane of x and y is shown upright, unless it
    // has wheels or other contacts.
    private chooseUp(robot: Robot): void {
        const { scene } = robot, g = scene.gravity;
        const k = [0, 1, 2].reduce((a, b) => (Math.abs(g[b]) > Math.abs(g[a]) ? b : a), 2);
        this.up.set(0, 0, 0).setComponent(k, g[k] > 0 ? -1 : 1);
        const contact = scene.contacts.find((c) => c.kind === 'ground');
        const weightless = g.every((x) => x === 0), { min, max } = robot.box;
        if (contact && weightless) this.up.fromArray(contact.normal).normalize();
        else if (weightless && max.z - min.z < flat * robot.size && !scene.loops.some((l) => contactKinds.has(l.joint))) this.up.set(0, 1, 0);
        if (!(this.up.lengthSq() > 0.5)) this.up.set(0, 0, 1);
    }

    // The same robot after a change: the camera stays.
    swap(robot: Robot): void {
        if (this.robot) this.scene.remove(this.robot.group);
        this.robot = robot;
        this.scene.add(robot.group);
        this.layGround(robot);
    }

    // The robot of another run, overlaid or in the right half; null: none.
    beside(robot: Robot | null, split: boolean): void {
        if (this.other && this.other !== this.robot) this.scene.remove(this.other.group);
        this.other = robot;
        this.split = split && robot !== null;
        if (robot) {
            robot.fade(!split);
            this.scene.add(robot.group);
        }
        if (this.robot) this.robot.group.visible = true;
        const size = this.renderer.getSize(new THREE.Vector2());
        this.resize(size.x, size.y);
    }

    // Robots in tiles beside the first one; none: it is alone.
    gather(robots: Robot[]): void {
        for (const r of this.family) if (r !== this.robot && !robots.includes(r)) this.scene.remove(r.group);
        this.family = robots;
        for (const r of robots) this.scene.add(r.group);
        if (this.robot) this.robot.group.visible = true;
        const size = this.renderer.getSize(new THREE.Vector2());
        this.resize(size.x, size.y);
    }

    // Tiles of a family leave this share of the picture at its lower edge.
    leave(share: number): void {
        if (share === this.foot) return;
        this.foot = share;
        const size = this.renderer.getSize(new THREE.Vector2());
        this.resize(size.x, size.y);
    }

    // Parts of a picture of this size.
    tiles(width: number, height: number): Tile[] {
        const { robot, other, family, split } = this, own = robot ? [robot] : [];
        if (family.length === 0 && !split) return [{ robots: other ? [...own, other] : own, x: 0, y: 0, width, height }];
        const all = family.length ? [...own, ...family] : [...own, ...(other ? [other] : [])];
        if (family.length) height *= 1 - this.foot;
        const columns = family.length ? this.columns(all.length, width, height) : 2, rows = Math.ceil(all.length / columns);
        return all.map((r, i) => ({ robots: [r], x: ((i % columns) * width) / columns, y: (Math.floor(i / columns) * height) / rows, width: width / columns, height: height / rows }));
    }

    // Columns of n tiles that are as large as possible.
    private columns(n: number, width: number, height: number): number {
        let best = 1, most = 0;
        for (let c = 1; c <= n; c++) {
            const size = Math.min(width / c, height / Math.ceil(n / c));
            if (size > most * 1.001) [best, most] = [c, size];
        }
        return best;
    }

    // The other robot after a change.
    swapBeside(robot: Robot): void {
        if (robot !== this.other) this.beside(robot, this.split);
    }

    show(robot: Robot, theme: Theme): void {
        if (this.robot) this.scene.remove(this.robot.group);
        this.robot = robot;
        this.scene.add(robot.group);
        this.chooseUp(robot);
        // the controls read the up direction of the camera when they are created
        this.camera.up.copy(this.up);
        const turned = new THREE.Quaternion().setFromUnitVectors(this.up, new THREE.Vector3(0, 1, 0));
        const inner = this.controls as unknown as { _quat: THREE.Quaternion; _quatInverse: THREE.Quaternion };
        inner._quat.copy(turned);
        inner._quatInverse.copy(turned).invert();
        this.layGround(robot);
        this.dress(theme);
        robot.centre(this.last);
    }

    private layGround(robot: Robot): void {
        const centre = robot.box.getCenter(new THREE.Vector3()), { size } = robot;
        const contact = robot.scene.contacts.find((c) => c.kind === 'ground');
        const normal = contact ? new THREE.Vector3().fromArray(contact.normal) : this.up.clone();
        if (!(normal.lengthSq() > 0)) normal.copy(this.up);
        normal.normalize();
        this.floor.copy(normal);
        const at = centre.clone();
        if (contact) {
            const point = new THREE.Vector3().fromArray(contact.at);
            at.addScaledVector(normal, point.sub(centre).dot(normal));
        } else {
            const half = robot.box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
            const reach = Math.abs(half.x * normal.x) + Math.abs(half.y * normal.y) + Math.abs(half.z * normal.z);
            at.addScaledVector(normal, -reach - 0.04 * size);
        }
        this.cell = decade(size / 8);
        const way = Math.max(...robot.box.getSize(new THREE.Vector3()).toArray());
        const width = Math.max(9 * size, 3 * way);
        this.ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
        // grid lines at multiples of the cell
        const inPlane = at.clone().applyQuaternion(this.ground.quaternion.clone().invert());
        inPlane.x = Math.round(inPlane.x / this.cell / 5) * this.cell * 5;
        inPlane.y = Math.round(inPlane.y / this.cell / 5) * this.cell * 5;
        this.ground.position.copy(inPlane.applyQuaternion(this.ground.quaternion));
        for (const m of [this.grid, this.shade]) {
            m.geometry.dispose();
            m.geometry = new THREE.PlaneGeometry(width, width);
        }
        this.grid.material.uniforms.cell.value = this.cell;
        this.grid.material.uniforms.reach.value = width / 2;
        this.aim(centre, size);
        this.camera.near = size / 200;
        this.camera.far = Math.max(60 * size, 4 * way);
    }

    // light from above and from the side; its shadow map contains the robot
    private aim(centre: THREE.Vector3, size: number): void {
        const [a, b] = this.across();
        this.sun.target.position.copy(centre);
        this.sun.position.copy(centre).addScaledVector(this.up, 2.4 * size).addScaledVector(a, 0.9 * size).addScaledVector(b, -1.1 * size);
        this.rim.position.copy(centre).addScaledVector(this.up, 0.8 * size).addScaledVector(a, -2 * size).addScaledVector(b, 1.6 * size);
        const c = this.sun.shadow.camera, half = 1.15 * size;
        c.left = c.bottom = -half;
        c.right = c.top = half;
        c.near = 0.2 * size;
        c.far = 6 * size;
        c.updateProjectionMatrix();
    }

    // two axes of the ground: across the view from the front, and away from it
    private across(): [THREE.Vector3, THREE.Vector3] {
        const k = [this.up.x, this.up.y, this.up.z].findIndex((x) => Math.abs(x) > 0.9);
        const a = new THREE.Vector3(k === 0 ? 0 : 1, k === 0 ? 1 : 0, 0);
        a.addScaledVector(this.up, -a.dot(this.up)).normalize();
        return [a, new THREE.Vector3().crossVectors(this.up, a)];
    }

    dress(theme: Theme): void {
        this.sky.intensity = theme.dark ? 1.3 : 1.5;
        this.sky.groundColor.set(theme.dark ? 0x6a727c : 0xcfc7ba);
        (this.shade.material as THREE.ShadowMaterial).opacity = theme.shadow;
        this.grid.material.uniforms.colour.value.setHex(theme.grid);
        this.grid.material.uniforms.strength.value = theme.dark ? 0.5 : 0.55;
        this.robot?.dress(theme);
        this.dirty = true;
    }

    showGround(on: boolean): void {
        this.grid.visible = on;
        this.dirty = true;
    }

    // View of the whole motion from one side; a planar robot is viewed along the normal of its plane.
    look(preset: Preset): void {
        const robot = this.robot;
        if (!robot) return;
        const [a, b] = this.across();
        const from = new THREE.Vector3();
        if (preset === 'front') from.copy(b).negate();
        else if (preset === 'side') from.copy(a);
        else if (preset === 'top') from.copy(this.up).addScaledVector(b, -1e-3);
        else from.copy(this.fitting(robot, a, b));
        if (!(from.lengthSq() > 0)) from.copy(b).negate();
        this.frame(from.normalize());
        this.preset = preset;
    }

    // Direction from which a robot is best seen: in space obliquely; in a plane along its normal, a little aside so that depth is
    // visible; on a line across it.
    private fitting(robot: Robot, a: THREE.Vector3, b: THREE.Vector3): THREE.Vector3 {
        const oblique = b.clone().negate().addScaledVector(a, 0.62).addScaledVector(this.up, 0.42);
        const [long, wide, thin] = spread(robot.places, robot.reached).map((s) => ({ axis: new THREE.Vector3().fromArray(s.axis), extent: s.extent }));
        if (thin.extent > flat * long.extent || !(long.extent > 0)) return oblique;
        if (wide.extent < flat * long.extent) {
            const front = b.clone().negate().addScaledVector(a, 0.28).addScaledVector(this.up, 0.24);
            const across = front.clone().addScaledVector(long.axis, -front.dot(long.axis));
            return across.lengthSq() > 0.1 ? across : oblique;
        }
        const normal = thin.axis.dot(oblique) < 0 ? thin.axis.negate() : thin.axis;
        const lying = Math.abs(normal.dot(this.up));
        if (lying > 0.35 && lying < 0.9) return oblique;
        if (lying >= 0.9) return this.up.clone().addScaledVector(b, -0.65).addScaledVector(a, 0.12);
        return normal.addScaledVector(new THREE.Vector3().crossVectors(this.up, normal), 0.16).addScaledVector(this.up, 0.13);
    }

    private frame(from: THREE.Vector3): void {
        const robot = this.robot!;
        const centre = robot.roams ? robot.centre(new THREE.Vector3()) : robot.box.getCenter(new THREE.Vector3());
        this.camera.position.copy(centre).add(from);
        this.camera.up.copy(this.up);
        this.camera.lookAt(centre);
        this.camera.updateMatrixWorld();
        // centred on the whole motion, at a distance that shows all of it, with a margin
        const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
        const top = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
        // the buttons above and the scales below take some of the height
        const high = this.renderer.domElement.clientHeight || 600, above = Math.min(58 / high, 0.16), below = Math.min(44 / high, 0.12);
        const whole = Math.tan((this.camera.fov * Math.PI) / 360), tan = whole * (1 - above - below), aspect = this.camera.aspect / (1 - above - below);
        let distance = 0;
        // a robot that roams is shown with part of its path, and the camera follows
        const places = robot.roams ? robot.present() : [robot, ...(this.other ? [this.other] : []), ...this.family].flatMap((r) => r.places), p = new THREE.Vector3();
        if (robot.roams) robot.centre(this.last);
        for (let round = 0; round < 3; round++) {
            const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
            distance = 0;
            for (let i = 0; i < places.length; i += 3) {
                p.fromArray(places, i).sub(centre);
                const toward = p.dot(from), x = p.dot(right), y = p.dot(top);
                distance = Math.max(distance, toward + Math.abs(y) / tan, toward + Math.abs(x) / (tan * aspect));
                low[0] = Math.min(low[0], x), high[0] = Math.max(high[0], x);
                low[1] = Math.min(low[1], y), high[1] = Math.max(high[1], y);
            }
            if (round < 2 && places.length > 0) centre.addScaledVector(right, (low[0] + high[0]) / 2).addScaledVector(top, (low[1] + high[1]) / 2);
        }
        // a robot that roams may become as long as its size says
        distance = robot.roams ? Math.max(1.6 * distance, (0.4 * robot.size) / tan) : Math.max(1.14 * distance, 0.6 * robot.size);
        centre.addScaledVector(top, (above - below) * whole * distance);
        this.controls.target.copy(centre);
        this.camera.position.copy(centre).addScaledVector(from, distance);
        const sizes = [robot, ...(this.other ? [this.other] : []), ...this.family].map((r) => r.size);
        this.controls.minDistance = Math.min(...sizes) / 40;
        this.controls.maxDistance = 25 * Math.max(...sizes);
        this.camera.updateProjectionMatrix();
        this.controls.update();
        this.dirty = true;
    }

    follow(): void {
        if (!this.robot) return;
        const now = this.robot.centre(new THREE.Vector3());
        if (this.robot.roams) this.aim(now, this.robot.size);
        if (this.following) {
            const by = now.clone().sub(this.last);
            this.camera.position.add(by);
            this.controls.target.add(by);
            this.controls.update();
        }
        this.last.copy(now);
    }

    resize(width: number, height: number): void {
        if (this.enlarged) return;
        this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
        this.renderer.setSize(width, height, false);
        const [tile] = this.tiles(width, height), before = this.camera.aspect;
        this.camera.aspect = tile.width / Math.max(tile.height, 1);
        this.camera.updateProjectionMatrix();
        // the page is laid out after the first look, and the whole motion should stay in sight
        if (this.preset && Math.abs(this.camera.aspect - before) > 1e-3) this.look(this.preset);
        this.dirty = true;
    }

    dispose(): void {
        this.controls.dispose();
        this.grid.material.dispose();
        this.renderer.dispose();
    }

    draw(): void {
        const { renderer, robot } = this, { x: width, y: height } = renderer.getSize(new THREE.Vector2()), tiles = this.tiles(width, height);
        const all = tiles.flatMap((t) => t.robots);
        renderer.setScissorTest(false);
        if (tiles.length > 1) renderer.clear(); // also what no tile has
        renderer.setScissorTest(tiles.length > 1);
        for (const { robots, x, y, width: wide, height: high } of tiles) {
            for (const r of all) r.group.visible = robots.includes(r);
            renderer.setViewport(x, height - y - high, wide, high);
            renderer.setScissor(x, height - y - high, wide, high);
            // each tile shows its own robot, if they go apart
            const apart = tiles.length > 1 && robot?.roams && robots[0] !== robot ? robots[0].centre(new THREE.Vector3()).sub(robot.centre(new THREE.Vector3())) : new THREE.Vector3();
            this.camera.position.add(apart);
            renderer.render(this.scene, this.camera);
            this.camera.position.sub(apart);
        }
        this.dirty = false;
    }

    // Size on the screen, pixels.
    get extent(): { width: number; height: number } {
        const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
        return { width, height };
    }

    // Draw in this many pixels until further notice; 0: in those of the screen.
    enlarge(width: number, height: number): void {
        this.enlarged = false;
        if (width > 0) {
            this.renderer.setPixelRatio(1);
            this.renderer.setSize(width, height, false);
        } else this.resize(this.extent.width, this.extent.height);
        this.enlarged = width > 0;
        this.dirty = true;
    }

    // The picture as it is now.
    image(): HTMLCanvasElement {
        this.draw();
        return this.renderer.domElement;
    }

    // The scene as vectors; false: it has too many triangles.
    vectors(pen: SvgPen): boolean {
        const { width, height } = this.extent, { camera } = this, parts: Vectors[] = [];
        const sun = this.sun.position.clone().sub(this.sun.target.position);
        for (const tile of this.tiles(width, height)) {
            const v = new Vectors(camera, sun, this.up, tile);
            if (this.grid.visible) v.grid(pen, this.gridLines(), this.grid.material.uniforms.colour.value.getHex());
            for (const r of tile.robots) {
                r.group.visible = true;
                v.add(r.group);
            }
            if (v.size > MOST) return false;
            parts.push(v);
        }
        for (const v of parts) v.draw((element) => pen.raw(element));
        return true;
    }

    // pieces of the lines of the grid, with their opacity
    private gridLines(): [THREE.Vector3, THREE.Vector3, number][] {
        const { cell, ground } = this, reach = Math.min(this.grid.material.uniforms.reach.value as number, 40 * cell), n = Math.floor(reach / cell), out: [THREE.Vector3, THREE.Vector3, number][] = [];
        const at = (u: number, v: number, across: boolean) => new THREE.Vector3(across ? v : u, across ? u : v, 0).applyMatrix4(ground.matrixWorld);
        for (let i = -n; i <= n; i++) {
            for (let j = -10; j < 10; j++) {
                for (const across of [false, true]) {
                    const u = (j * reach) / 10, far = Math.hypot(u + reach / 20, i * cell) / reach;
                    out.push([at(u, i * cell, across), at(u + reach / 10, i * cell, across), (i % 5 ? 0.2 : 0.45) * Math.max(0, 1 - far)]);
                }
            }
        }
        return out;
    }

    // Direction of gravity if it is not towards the floor; null: it is, or there is none.
    get slant(): THREE.Vector3 | null {
        const g = new THREE.Vector3().fromArray(this.robot?.scene.gravity ?? [0, 0, 0]);
        return g.lengthSq() > 0 && g.normalize().dot(this.floor) > -0.999 ? g : null;
    }

    // element at a point of the canvas, in pixels
    ray(x: number, y: number): THREE.Raycaster {
        const canvas = this.renderer.domElement, ray = new THREE.Raycaster(), [tile] = this.tiles(canvas.clientWidth, canvas.clientHeight);
        this.camera.updateMatrixWorld();
        ray.setFromCamera(new THREE.Vector2((2 * (x - tile.x)) / tile.width - 1, 1 - (2 * (y - tile.y)) / tile.height), this.camera);
        return ray;
    }

    add(thing: THREE.Object3D): void {
        this.scene.add(thing);
    }

    // a point of the world in pixels of the canvas, in the first tile
    project(x: number, y: number, z: number): { x: number; y: number } {
        const canvas = this.renderer.domElement, [tile] = this.tiles(canvas.clientWidth, canvas.clientHeight);
        this.camera.updateMatrixWorld();
        const p = new THREE.Vector3(x, y, z).project(this.camera);
        return { x: tile.x + (0.5 + 0.5 * p.x) * tile.width, y: tile.y + (0.5 - 0.5 * p.y) * tile.height };
    }
}
