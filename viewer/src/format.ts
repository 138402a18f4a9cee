// SPDX-License-Identifier: MIT
//
// Numbers as texts.

const prefixes: [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];

// 1, 2 or 5 times a power of ten, not above x
export function decade(x: number): number {
    if (!(x > 0)) return 1;
    const ten = 10 ** Math.floor(Math.log10(x)), lead = x / ten;
    return ten * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

// Unit in which a number of this size is shown, and its SI value; compound units have no prefixes, a mass those of the gram.
export function shown(unit: string, size: number): { unit: string; size: number } {
    const [base, one] = unit === 'kg' ? ['g', 1e-3] : [unit, 1];
    const plain = { unit: pretty(unit), size: 1 };
    if (!(size > 0) || !Number.isFinite(size) || !/^(m|g|N|Pa|J|W|s|Hz|N\*m)$/.test(base)) return plain;
    for (const [value, letter] of prefixes) {
        if (base === 'g' && value > 1e3) continue;
        if (size >= value * one * 0.9995) return { unit: letter + pretty(base), size: value * one };
    }
    return plain;
}

// `12.3 mm`; compound units keep powers of ten
export function quantity(x: number, unit: string, digits = 3): string {
    if (!Number.isFinite(x)) return '–';
    const by = shown(unit, Math.abs(x)), text = number(x / by.size, digits);
    return by.unit ? `${text} ${by.unit}` : text;
}

export function pretty(unit: string): string {
    return unit.replace(/\*/g, '·').replace(/\^(-?\d)/g, (_, d: string) => (d === '2' ? '²' : d === '3' ? '³' : `^${d}`));
}

export function number(x: number, digits = 4): string {
    if (!Number.isFinite(x)) return '–';
    const size = Math.abs(x);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return x.toExponential(Math.max(digits - 2, 1)).replace('e+', 'e').replace('-', '−').replace('e-', 'e−');
    return Number(x.toPrecision(digits)).toString().replace('-', '−');
}

// label of an axis, without trailing zeros
export function tick(x: number): string {
    const size = Math.abs(x);
    if (size < 1e-14) return '0';
    const short = Number(x.toPrecision(6));
    const text = size >= 1e5 || size < 1e-3 ? short.toExponential().replace('e+', 'e') : String(short);
    return text.replace(/-/g, '−');
}

export function count(x: number): string {
    return String(x).replace(/\B(?=(\d{3})+$)/g, '\u2009');
}

// x, or zero if it is rounding error beside values of this size; angles are of size one
export function settled(x: number, size: number, unit = ''): number {
    return Math.abs(x) < (unit === 'rad' ? Math.max(1e-12 * size, 1e-14) : 1e-12 * size) ? 0 : x;
}
