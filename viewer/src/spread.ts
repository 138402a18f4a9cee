// SPDX-License-Identifier: MIT
//
// Principal axes of a set of points: the eigenvectors of their covariance, with the extent along each.

export interface Spread {
    axis: number[]; // unit vector
    extent: number;
}

// Of points x y z, from the largest extent to the smallest; `n`: numbers to read.
export function spread(points: number[], n = points.length): Spread[] {
    const mean = [0, 0, 0], c = [0, 1, 2].map(() => [0, 0, 0]), m = Math.max(Math.floor(n / 3), 1);
    for (let i = 0; i < n; i++) mean[i % 3] += points[i] / m;
    for (let i = 0; i + 2 < n; i += 3) {
        for (let a = 0; a < 3; a++) for (let b = 0; b < 3; b++) c[a][b] += ((points[i + a] - mean[a]) * (points[i + b] - mean[b])) / m;
    }
    const v = eigenvectors(c);
    return [0, 1, 2].map((k) => {
        const axis = v.map((row) => row[k]);
        let low = Infinity, high = -Infinity;
        for (let i = 0; i + 2 < n; i += 3) {
            const x = axis[0] * points[i] + axis[1] * points[i + 1] + axis[2] * points[i + 2];
            low = Math.min(low, x), high = Math.max(high, x);
        }
        return { axis, extent: high > low ? high - low : 0 };
    }).sort((a, b) => b.extent - a.extent);
}

// Columns are the eigenvectors of a symmetric matrix, which is overwritten: Jacobi's rotations.
function eigenvectors(c: number[][]): number[][] {
    const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (let sweep = 0; sweep < 12; sweep++) {
        for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
            if (Math.abs(c[p][q]) <= 1e-15 * (Math.abs(c[p][p]) + Math.abs(c[q][q]))) continue;
            const angle = 0.5 * Math.atan2(2 * c[p][q], c[q][q] - c[p][p]), cos = Math.cos(angle), sin = Math.sin(angle);
            const turn = (m: number[][]) => m.forEach((row) => ([row[p], row[q]] = [cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]]));
            turn(c);
            turn(v);
            [c[p], c[q]] = [c[p].map((x, i) => cos * x - sin * c[q][i]), c[q].map((x, i) => sin * c[p][i] + cos * x)];
        }
    }
    return v;
}
