// SPDX-License-Identifier: MIT
//
// Poses of one frame of a run: x y z qw qx qy qz per node. Between neighbouring nodes of a rod poses follow the
// screw g exp(s log(g^-1 g')), which is exact where the strain is constant.

export class Poses {
    readonly g: Float64Array; // 7 per node; the world follows the last node

    constructor(readonly nodes: number) {
        this.g = new Float64Array(7 * (nodes + 1));
        this.g[7 * nodes + 3] = 1;
    }

    // first index of the numbers of a node; -1 is the world
    at(node: number): number {
        return 7 * (node < 0 ? this.nodes : node);
    }

    // Frame k, or interpolated between k and k + 1.
    take(pose: Float32Array, k: number, share: number, offset: number[]): void {
        this.mix(pose, k, share > 0 ? k + 1 : k, share, offset);
    }

    // Interpolation or extrapolation from frame k towards another one.
    mix(pose: Float32Array, k: number, other: number, share: number, offset: number[]): void {
        const n = this.nodes * 7, a = k * n, b = other * n, g = this.g;
        for (let i = 0; i < n; i += 7) {
            for (let c = 0; c < 3; c++) g[i + c] = offset[c] + (1 - share) * pose[a + i + c] + share * pose[b + i + c];
            let dot = 0, norm = 0;
            for (let c = 3; c < 7; c++) dot += pose[a + i + c] * pose[b + i + c];
            const sign = dot < 0 ? -share : share;
            for (let c = 3; c < 7; c++) {
                const q = (1 - share) * pose[a + i + c] + sign * pose[b + i + c];
                g[i + c] = q;
                norm += q * q;
            }
            norm = norm > 0 ? 1 / Math.sqrt(norm) : 0;
            for (let c = 3; c < 7; c++) g[i + c] *= norm;
        }
    }

    // out <- a point of the node's frame in the world
    point(node: number, x: number, y: number, z: number, out: number[]): number[] {
        const i = this.at(node);
        this.turn(node, x, y, z, out);
        out[0] += this.g[i];
        out[1] += this.g[i + 1];
        out[2] += this.g[i + 2];
        return out;
    }

    // out <- a vector of the node's frame in the world
    turn(node: number, x: number, y: number, z: number, out: number[]): number[] {
        const i = this.at(node), g = this.g;
        return rotate(g[i + 3], g[i + 4], g[i + 5], g[i + 6], x, y, z, out);
    }
}

export function rotate(w: number, a: number, b: number, c: number, x: number, y: number, z: number, out: number[]): number[] {
    const tx = 2 * (b * z - c * y), ty = 2 * (c * x - a * z), tz = 2 * (a * y - b * x);
    out[0] = x + w * tx + b * tz - c * ty;
    out[1] = y + w * ty + c * tx - a * tz;
    out[2] = z + w * tz + a * ty - b * tx;
    return out;
}

// log of the motion from one pose to another, in the frame of the first: rotation vector, then the linear part
export function relativeLog(g: Float64Array, i: number, j: number, out: Float64Array): void {
    const w0 = g[i + 3], x0 = -g[i + 4], y0 = -g[i + 5], z0 = -g[i + 6];
    const w1 = g[j + 3], x1 = g[j + 4], y1 = g[j + 5], z1 = g[j + 6];
    let w = w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1;
    let x = w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1;
    let y = w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1;
    let z = w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1;
    if (w < 0) w = -w, x = -x, y = -y, z = -z;
    const s = Math.hypot(x, y, z), angle = 2 * Math.atan2(s, w), k = s > 1e-9 ? angle / s : 2;
    const rx = k * x, ry = k * y, rz = k * z;
    rotate(w0, x0, y0, z0, g[j] - g[i], g[j + 1] - g[i + 1], g[j + 2] - g[i + 2], scratch);
    const [px, py, pz] = scratch;
    // V^-1 p = p - r x p / 2 + c r x (r x p), c = (1 - (angle/2) cot(angle/2))/angle^2
    const half = angle / 2;
    const c = angle > 1e-4 ? (1 - half / Math.tan(half)) / (angle * angle) : 1 / 12;
    const ux = ry * pz - rz * py, uy = rz * px - rx * pz, uz = rx * py - ry * px;
    out[0] = rx;
    out[1] = ry;
    out[2] = rz;
    out[3] = px - ux / 2 + c * (ry * uz - rz * uy);
    out[4] = py - uy / 2 + c * (rz * ux - rx * uz);
    out[5] = pz - uz / 2 + c * (rx * uy - ry * ux);
}

const scratch = [0, 0, 0];

// out (7 numbers) <- g exp(s xi)
export function advance(g: Float64Array, i: number, xi: Float64Array, s: number, out: Float64Array): void {
    const rx = s * xi[0], ry = s * xi[1], rz = s * xi[2];
    const vx = s * xi[3], vy = s * xi[4], vz = s * xi[5];
    const angle = Math.hypot(rx, ry, rz);
    const small = angle < 1e-4;
    const a = small ? 0.5 : (2 * Math.sin(angle / 2) ** 2) / (angle * angle);
    const b = small ? 1 / 6 : (angle - Math.sin(angle)) / (angle * angle * angle);
    const ux = ry * vz - rz * vy, uy = rz * vx - rx * vz, uz = rx * vy - ry * vx;
    const px = vx + a * ux + b * (ry * uz - rz * uy);
    const py = vy + a * uy + b * (rz * ux - rx * uz);
    const pz = vz + a * uz + b * (rx * uy - ry * ux);
    const w0 = g[i + 3], x0 = g[i + 4], y0 = g[i + 5], z0 = g[i + 6];
    rotate(w0, x0, y0, z0, px, py, pz, scratch);
    out[0] = g[i] + scratch[0];
    out[1] = g[i + 1] + scratch[1];
    out[2] = g[i + 2] + scratch[2];
    const k = small ? 0.5 : Math.sin(angle / 2) / angle, w = Math.cos(angle / 2);
    const x = k * rx, y = k * ry, z = k * rz;
    out[3] = w0 * w - x0 * x - y0 * y - z0 * z;
    out[4] = w0 * x + x0 * w + y0 * z - z0 * y;
    out[5] = w0 * y - x0 * z + y0 * w + z0 * x;
    out[6] = w0 * z + x0 * y - y0 * x + z0 * w;
}
