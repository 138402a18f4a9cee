// SPDX-License-Identifier: MIT
//
// Colours: the scale from small to large values, the series of plots, and the materials of the light and dark themes.

export interface Theme {
    dark: boolean;
    sky: string; // behind the robot, above
    floor: string; // and below
    grid: number;
    rod: number;
    body: number;
    strut: number;
    joint: number;
    tyre: number;
    tendon: number;
    chamber: number;
    load: number;
    torque: number;
    reaction: number;
    field: number;
    moment: number; // magnetic
    trail: number;
    measured: number;
    shadow: number;
}

export const light: Theme = {
    dark: false, sky: '#fbfaf7', floor: '#e9e6df', grid: 0x8a8578, rod: 0xcf6f4f, body: 0x6d7f92, strut: 0x8c99a6,
    joint: 0x39434d, tyre: 0x59636e, tendon: 0x2f7d86, chamber: 0x4f9fc4, load: 0xd08a12, torque: 0xb0752a, reaction: 0x7a4fb5, field: 0x3561c9, moment: 0xbb3f5a, trail: 0x2f7d86, measured: 0x111418, shadow: 0.22,
};

export const dark: Theme = {
    dark: true, sky: '#1d2229', floor: '#0f1216', grid: 0x7d8794, rod: 0xe58a69, body: 0x8fa3b8, strut: 0x77828e,
    joint: 0xc7d0d9, tyre: 0x8b96a3, tendon: 0x5cc0c9, chamber: 0x6cb8dc, load: 0xf2b84b, torque: 0xd79a55, reaction: 0xb08ae6, field: 0x7fa8ff, moment: 0xf07f93, trail: 0x5cc0c9, measured: 0xffffff, shadow: 0.5,
};

// from small to large values
const stops = [
    [0.27, 0.37, 0.66], [0.22, 0.5, 0.7], [0.22, 0.63, 0.63], [0.5, 0.77, 0.51],
    [0.93, 0.82, 0.38], [0.93, 0.55, 0.25], [0.78, 0.22, 0.24],
];

export function scale(share: number, out: number[]): number[] {
    const x = Math.min(Math.max(Number.isFinite(share) ? share : 0, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(x), stops.length - 2), f = x - i;
    for (let c = 0; c < 3; c++) out[c] = stops[i][c] + f * (stops[i + 1][c] - stops[i][c]);
    return out;
}

export const scaleColours = stops.map((s) => `#${s.map((c) => Math.round(255 * c).toString(16).padStart(2, '0')).join('')}`);

// curves: they differ in lightness as well as in hue
export const series = (theme: Theme): string[] =>
    theme.dark
        ? ['#5cc0c9', '#f2a36b', '#b79af0', '#9bcf6b', '#f07f93', '#e0c354', '#7fa8ff', '#c9b8a6']
        : ['#1f7a85', '#c9642f', '#6f4bb0', '#4f8a2b', '#bb3f5a', '#9a7a10', '#3561c9', '#7c6a58'];
