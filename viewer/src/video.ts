// SPDX-License-Identifier: MIT
//
// Containers of videos: WebM for VP9 and VP8, MP4 for H.264. Pictures are encoded by the browser (WebCodecs).

export interface Picture {
    data: Uint8Array;
    time: number; // µs
    key: boolean; // it needs no picture before
}

export interface Container {
    add(p: Picture): void;
    end(duration: number): Blob; // µs
}

type Bytes = Uint8Array;

const text = (s: string) => Uint8Array.from(s, (c) => c.charCodeAt(0));

function join(parts: Bytes[]): Bytes {
    const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of parts) {
        all.set(p, at);
        at += p.length;
    }
    return all;
}

// big-endian, of `size` bytes
function integer(x: number, size: number): Bytes {
    const out = new Uint8Array(size);
    for (let i = size - 1, rest = x; i >= 0; i--, rest = Math.floor(rest / 256)) out[i] = rest % 256;
    return out;
}

function float(x: number): Bytes {
    const out = new Uint8Array(8);
    new DataView(out.buffer).setFloat64(0, x);
    return out;
}

// ---- WebM: elements of EBML, each an identifier, the length in eight bytes, and the content

function element(id: number, ...content: Bytes[]): Bytes {
    const inner = join(content), name = integer(id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1), size = integer(inner.length, 8);
    size[0] = 1; // eight bytes
    return join([name, size, inner]);
}

const count = (id: number, x: number, size = 8) => element(id, integer(x, size));

export class WebM implements Container {
    private readonly clusters: { time: number; blocks: Bytes[] }[] = []; // ms

    constructor(private readonly codec: 'V_VP8' | 'V_VP9', private readonly width: number, private readonly height: number) {}

    add({ data, time, key }: Picture): void {
        const ms = Math.round(time / 1000);
        if (key || !this.clusters.length) this.clusters.push({ time: ms, blocks: [] });
        const cluster = this.clusters[this.clusters.length - 1], since = ms - cluster.time;
        cluster.blocks.push(element(0xa3, Uint8Array.from([0x81, (since >> 8) & 255, since & 255, key ? 0x80 : 0]), data));
    }

    end(duration: number): Blob {
        const head = element(0x1a45dfa3, count(0x4286, 1), count(0x42f7, 1), count(0x42f2, 4), count(0x42f3, 8), element(0x4282, text('webm')), count(0x4287, 2), count(0x4285, 2));
        const info = element(0x1549a966, count(0x2ad7b1, 1e6), element(0x4489, float(duration / 1000)), element(0x4d80, text('sinew')), element(0x5741, text('sinew')));
        const tracks = element(0x1654ae6b, element(0xae, count(0xd7, 1), count(0x73c5, 1), count(0x83, 1), element(0x86, text(this.codec)), element(0xe0, count(0xb0, this.width), count(0xba, this.height))));
        const clusters = this.clusters.map((c) => element(0x1f43b675, count(0xe7, c.time), ...c.blocks));
        // the index has a fixed size, so that positions behind it are known
        const index = (first: number) => {
            let at = first;
            return element(0x1c53bb6b, ...clusters.map((c, i) => {
                const entry = element(0xbb, count(0xb3, this.clusters[i].time), element(0xb7, count(0xf7, 1), count(0xf1, at)));
                at += c.length;
                return entry;
            }));
        };
        const before = info.length + tracks.length;
        return new Blob([head, element(0x18538067, info, tracks, index(before + index(0).length), ...clusters)], { type: 'video/webm' });
    }
}

// ---- MP4: boxes, each its length, four letters, and the content

function box(name: string, ...content: Bytes[]): Bytes {
    const inner = join(content);
    return join([integer(inner.length + 8, 4), text(name), inner]);
}

const u32 = (...list: number[]) => join(list.map((x) => integer(x, 4)));
const u16 = (...list: number[]) => join(list.map((x) => integer(x, 2)));
const unity = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000); // matrix without rotation

export class Mp4 implements Container {
    private readonly pictures: Picture[] = [];

    // `setup`: parameter sets of the encoder
    constructor(private readonly setup: () => Bytes, private readonly width: number, private readonly height: number) {}

    add(p: Picture): void {
        this.pictures.push(p);
    }

    end(duration: number): Blob {
        const { pictures, width, height } = this, SECOND = 1e6;
        const until = (i: number) => (i + 1 < pictures.length ? pictures[i + 1].time : Math.max(duration, pictures[i].time + 1));
        const type = box('ftyp', text('isom'), u32(512), text('isomiso2avc1mp41'));
        const entry = box('avc1', u32(0), u16(0, 1), u32(0, 0, 0, 0), u16(width, height), u32(0x480000, 0x480000, 0), u16(1), new Uint8Array(32), u16(24, 0xffff), box('avcC', this.setup()));
        const table = (first: number) => box('stbl', box('stsd', u32(0, 1), entry),
            box('stts', u32(0, pictures.length), ...pictures.map((p, i) => u32(1, until(i) - p.time))),
            box('stss', u32(0, pictures.filter((p) => p.key).length), ...pictures.flatMap((p, i) => (p.key ? [u32(i + 1)] : []))),
            box('stsc', u32(0, 1, 1, pictures.length, 1)),
            box('stsz', u32(0, 0, pictures.length), ...pictures.map((p) => u32(p.data.length))),
            box('stco', u32(0, 1, first)));
        const movie = (first: number) => box('moov',
            box('mvhd', u32(0, 0, 0, SECOND, duration, 0x10000), u16(0x100, 0), u32(0, 0), unity, u32(0, 0, 0, 0, 0, 0, 2)),
            box('trak', box('tkhd', u32(3, 0, 0, 1, 0, duration, 0, 0), u16(0, 0, 0, 0), unity, u32(width * 65536, height * 65536)),
                box('mdia', box('mdhd', u32(0, 0, 0, SECOND, duration), u16(0x55c4, 0)), box('hdlr', u32(0, 0), text('vide'), u32(0, 0, 0), text('sinew\0')),
                    box('minf', box('vmhd', u32(1), u16(0, 0, 0, 0)), box('dinf', box('dref', u32(0, 1), box('url ', u32(1)))), table(first)))));
        const first = type.length + movie(0).length + 8;
        return new Blob([type, movie(first), box('mdat', ...pictures.map((p) => p.data))], { type: 'video/mp4' });
    }
}
