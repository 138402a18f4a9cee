// SPDX-License-Identifier: MIT
//
// GIF 89a: one palette for all pictures, ordered dither, and of each picture only the pixels that differ from the one before.

const CLEAR = 255; // index of unchanged pixels
const bayer = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]; // thresholds of a 4 x 4 cell

interface Box {
    colours: number[]; // 5 bits each of red, green, blue
    weight: number;
}

const channel = (colour: number, c: number) => (colour >> (10 - 5 * c)) & 31;

// Median cut: the box with the largest weight times extent is split at its median, until there are `n`.
function palette(count: Uint32Array, n: number): number[][] {
    const all: number[] = [];
    count.forEach((w, colour) => w > 0 && all.push(colour));
    const weigh = (colours: number[]): Box => ({ colours, weight: colours.reduce((sum, c) => sum + count[c], 0) });
    const extent = (b: Box, c: number) => b.colours.reduce((high, x) => Math.max(high, channel(x, c)), 0) - b.colours.reduce((low, x) => Math.min(low, channel(x, c)), 31);
    const widest = (b: Box) => [0, 1, 2].reduce((a, c) => (extent(b, c) > extent(b, a) ? c : a), 0);
    const boxes = [weigh(all)], worth = new Map<Box, number>();
    const value = (b: Box) => {
        if (!worth.has(b)) worth.set(b, Math.sqrt(b.weight) * extent(b, widest(b)));
        return worth.get(b)!;
    };
    while (boxes.length < n) {
        const i = boxes.reduce((best, b, j) => (value(b) > value(boxes[best]) ? j : best), 0), box = boxes[i];
        if (!(value(box) > 0)) break;
        const c = widest(box), sorted = box.colours.sort((a, b) => channel(a, c) - channel(b, c));
        let half = 0, cut = 0;
        while (cut < sorted.length - 1 && 2 * (half + count[sorted[cut]]) <= box.weight) half += count[sorted[cut++]];
        cut = Math.max(cut, 1);
        boxes.splice(i, 1, weigh(sorted.slice(0, cut)), weigh(sorted.slice(cut)));
    }
    return boxes.map((b) => [0, 1, 2].map((c) => Math.round((255 / 31) * (b.colours.reduce((sum, x) => sum + channel(x, c) * count[x], 0) / Math.max(b.weight, 1)))));
}

// Compression by Lempel, Ziv and Welch with codes of 9 to 12 bits, in blocks of at most 255 bytes.
function compress(pixels: Uint8Array): Uint8Array {
    const CODE = 256, END = 257, next = new Int16Array(4096 * 256);
    let out = new Uint8Array(1024 + (pixels.length >> 1)), n = 1, block = 0, bits = 0, have = 0, width = 9, used = END;
    out[0] = 8; // bits of a pixel
    const byte = (x: number) => {
        if (n + 2 > out.length) {
            const more = new Uint8Array(2 * out.length);
            more.set(out);
            out = more;
        }
        if (block === 0) out[n++] = 0; // length of the block, known at its end
        out[n++] = x;
        if (++block === 255) endBlock();
    };
    const endBlock = () => {
        out[n - block - 1] = block;
        block = 0;
    };
    const put = (code: number) => {
        bits |= code << have;
        have += width;
        for (; have >= 8; have -= 8, bits >>>= 8) byte(bits & 255);
    };
    put(CODE);
    let prefix = pixels[0];
    for (let i = 1; i < pixels.length; i++) {
        const at = 256 * prefix + pixels[i];
        if (next[at] > 0) {
            prefix = next[at];
            continue;
        }
        put(prefix);
        if (used === 4095) {
            put(CODE);
            next.fill(0);
            width = 9;
            used = END;
        } else {
            next[at] = ++used;
            if (used === 1 << width && width < 12) width++;
        }
        prefix = pixels[i];
    }
    put(prefix);
    put(END);
    if (have > 0) byte(bits & 255);
    if (block > 0) endBlock();
    const whole = new Uint8Array(n + 1); // an empty block ends it
    whole.set(out.subarray(0, n));
    return whole;
}

export class Gif {
    private readonly parts: BlobPart[] = [];
    private readonly nearest = new Uint8Array(32768); // colour of the palette for each of 15 bits
    private last: Uint8Array | null = null;

    // `samples`: pictures from which the palette is chosen
    constructor(private readonly width: number, private readonly height: number, samples: ImageData[]) {
        const count = new Uint32Array(32768);
        for (const { data } of samples) for (let i = 0; i < data.length; i += 4) count[((data[i] >> 3) << 10) | ((data[i + 1] >> 3) << 5) | (data[i + 2] >> 3)]++;
        const colours = palette(count, CLEAR), table = new Uint8Array(768);
        colours.forEach((c, i) => table.set(c, 3 * i));
        for (let x = 0; x < 32768; x++) {
            let best = Infinity;
            for (let i = 0; i < colours.length; i++) {
                const far = [0, 1, 2].reduce((sum, c) => sum + (colours[i][c] - (255 / 31) * channel(x, c)) ** 2, 0);
                if (far < best) best = far, this.nearest[x] = i;
            }
        }
        const header = [...'GIF89a'].map((c) => c.charCodeAt(0)).concat(width & 255, width >> 8, height & 255, height >> 8, 0xf7, 0, 0);
        const forever = [0x21, 0xff, 11, ...[...'NETSCAPE2.0'].map((c) => c.charCodeAt(0)), 3, 1, 0, 0, 0];
        this.parts.push(Uint8Array.from(header), table, Uint8Array.from(forever));
    }

    // Append a picture, shown for some hundredths of a second.
    add({ data }: ImageData, hundredths: number): void {
        const { width, height, last } = this, index = new Uint8Array(width * height);
        for (let y = 0, i = 0; y < height; y++) {
            for (let x = 0; x < width; x++, i++) {
                const shift = 0.5 * (bayer[4 * (y & 3) + (x & 3)] - 7.5);
                let colour = 0;
                for (let c = 0; c < 3; c++) colour = (colour << 5) | (Math.min(Math.max(data[4 * i + c] + shift, 0), 255) >> 3);
                index[i] = this.nearest[colour];
            }
        }
        const drawn = last ? index.map((x, i) => (x === last[i] ? CLEAR : x)) : index;
        this.last = index;
        const delay = [hundredths & 255, hundredths >> 8];
        this.parts.push(Uint8Array.from([0x21, 0xf9, 4, 0x05, ...delay, CLEAR, 0, 0x2c, 0, 0, 0, 0, width & 255, width >> 8, height & 255, height >> 8, 0]), compress(drawn));
    }

    end(): Blob {
        return new Blob([...this.parts, Uint8Array.from([0x3b])], { type: 'image/gif' });
    }
}
