// SPDX-License-Identifier: MIT
//
// Instanced meshes: bars between points, balls, arrows. Each frame clears them and adds those it needs.
import * as THREE from 'three';

const up = new THREE.Vector3(0, 1, 0);
const along = new THREE.Vector3();
const middle = new THREE.Vector3();
const turn = new THREE.Quaternion();
const size = new THREE.Vector3();
const matrix = new THREE.Matrix4();
const tint = new THREE.Color();

class Instances {
    readonly mesh: THREE.InstancedMesh;
    private hidden: THREE.InstancedMesh | null = null;
    private n = 0;

    constructor(geometry: THREE.BufferGeometry, material: THREE.Material, private readonly room: number, shadow: boolean) {
        this.mesh = new THREE.InstancedMesh(geometry, material, Math.max(room, 1));
        this.mesh.castShadow = shadow;
        this.mesh.receiveShadow = shadow;
        this.mesh.frustumCulled = false;
        this.mesh.count = 0;
    }

    // The same instances where something is in front of them, faint: added to the mesh.
    showHidden(material: THREE.Material): void {
        material.transparent = true;
        material.opacity = 0.4;
        material.depthWrite = false;
        material.depthFunc = THREE.GreaterDepth;
        this.hidden = new THREE.InstancedMesh(this.mesh.geometry, material, Math.max(this.room, 1));
        this.hidden.instanceMatrix = this.mesh.instanceMatrix;
        this.hidden.frustumCulled = false;
        this.hidden.renderOrder = 1;
        this.hidden.count = 0;
        this.mesh.add(this.hidden);
    }

    begin(): void {
        this.n = 0;
    }

    put(m: THREE.Matrix4, colour: number): void {
        if (this.n >= this.room) return;
        this.mesh.setMatrixAt(this.n, m);
        this.mesh.setColorAt(this.n, tint.setHex(colour));
        this.n++;
    }

    end(): void {
        this.mesh.count = this.n;
        this.mesh.instanceMatrix.needsUpdate = true;
        if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
        if (!this.hidden) return;
        this.hidden.count = this.n;
        this.hidden.instanceColor = this.mesh.instanceColor;
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        this.hidden?.dispose();
        this.mesh.dispose();
    }
}

export class Bars extends Instances {
    // open ends, so that transparent bars can follow each other without visible joints
    constructor(material: THREE.Material, room: number, sides = 28, shadow = true, ends = true) {
        super(new THREE.CylinderGeometry(1, 1, 1, sides, 1, !ends), material, room, shadow);
    }

    bar(a: number[], b: number[], radius: number, colour: number): void {
        along.set(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
        const length = along.length();
        if (!(length > 0)) return;
        turn.setFromUnitVectors(up, along.divideScalar(length));
        middle.set((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2);
        this.put(matrix.compose(middle, turn, size.set(radius, length, radius)), colour);
    }
}

export class Cones extends Instances {
    constructor(material: THREE.Material, room: number) {
        super(new THREE.ConeGeometry(1, 1, 18, 1).translate(0, -0.5, 0), material, room, false);
    }

    // tip at `to`, along the unit vector `direction`
    cone(to: number[], direction: number[], radius: number, length: number, colour: number): void {
        turn.setFromUnitVectors(up, along.set(direction[0], direction[1], direction[2]));
        this.put(matrix.compose(middle.set(to[0], to[1], to[2]), turn, size.set(radius, length, radius)), colour);
    }
}

export class Balls extends Instances {
    constructor(material: THREE.Material, room: number, shadow = true) {
        super(new THREE.SphereGeometry(1, 20, 14), material, room, shadow);
    }

    ball(at: number[], radius: number, colour: number): void {
        this.put(matrix.compose(middle.set(at[0], at[1], at[2]), turn.identity(), size.setScalar(radius)), colour);
    }
}
