// SPDX-License-Identifier: MIT
//
// Pictures, drawings and films of the stage as files.
import { make } from './dom';
import { Gif } from './gif';
import { CanvasPen, SvgPen, type Pen } from './pen';
import type { Stage } from './stage';
import { Mp4, WebM, type Container } from './video';

// What is saved: the stage, and what is drawn over it in pixels of the stage.
export interface Subject {
    stage: Stage;
    name: string; // of the file, without its ending
    sky: [string, string]; // behind the robot, above and below
    overlay(pen: Pen, width: number, height: number): void;
}

// A motion in seconds of the film.
export interface Film {
    duration: number;
    show(seconds: number): void;
    end(): void; // as before
}

const WIDE = 3840; // of a picture, pixels
const GIF = { width: 640, frames: 240, rate: 20 };
const VIDEO = { width: 1280, rate: 30, bits: 6e6 };

export interface Format {
    name: string;
    ending: string;
    codec: string; // as WebCodecs spell it
}

const formats: Format[] = [
    ...['avc1.640028', 'avc1.4d0028', 'avc1.420028'].map((codec) => ({ name: 'MP4', ending: 'mp4', codec })),
    ...['vp09.00.40.08', 'vp8'].map((codec) => ({ name: 'WebM', ending: 'webm', codec })),
];

function encoding(format: Format, width: number, height: number): VideoEncoderConfig {
    return { codec: format.codec, width, height, bitrate: VIDEO.bits, framerate: VIDEO.rate, ...(format.ending === 'mp4' ? { avc: { format: 'avc' } } : {}) };
}

// Videos that this browser can write, one for each ending.
export async function videos(): Promise<Format[]> {
    const out: Format[] = [];
    for (const f of typeof VideoEncoder === 'undefined' ? [] : formats) {
        if (out.some((o) => o.ending === f.ending)) continue;
        const known = await VideoEncoder.isConfigSupported(encoding(f, VIDEO.width, (VIDEO.width * 9) / 16)).catch(() => null);
        if (known?.supported) out.push(f);
    }
    return out;
}

export function download(blob: Blob, name: string): void {
    const url = URL.createObjectURL(blob), link = make('a', { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// The stage at some width of the picture, on a canvas of its own.
class Easel {
    readonly canvas = make('canvas');
    readonly to: CanvasRenderingContext2D;
    private readonly scale: number;

    constructor(private readonly subject: Subject, width: number, even = 1) {
        const { width: w, height: h } = subject.stage.extent;
        this.scale = width / Math.max(w, 1);
        this.canvas.width = even * Math.round(width / even);
        this.canvas.height = even * Math.round((h * this.scale) / even);
        this.to = this.canvas.getContext('2d', { willReadFrequently: true })!;
        subject.stage.enlarge(this.canvas.width, this.canvas.height);
    }

    draw(): void {
        const { canvas, to, subject } = this, sky = to.createLinearGradient(0, 0, 0, canvas.height);
        subject.sky.forEach((c, i) => sky.addColorStop(i, c));
        to.setTransform(1, 0, 0, 1, 0, 0);
        to.fillStyle = sky;
        to.fillRect(0, 0, canvas.width, canvas.height);
        to.drawImage(subject.stage.image(), 0, 0);
        to.setTransform(this.scale, 0, 0, this.scale, 0, 0);
        subject.overlay(new CanvasPen(to), canvas.width / this.scale, canvas.height / this.scale);
    }

    get pixels(): ImageData {
        return this.to.getImageData(0, 0, this.canvas.width, this.canvas.height);
    }

    done(): void {
        this.subject.stage.enlarge(0, 0);
    }
}

export function savePicture(subject: Subject): Promise<Blob> {
    const easel = new Easel(subject, WIDE);
    easel.draw();
    easel.done();
    return new Promise((done, fail) => easel.canvas.toBlob((b) => (b ? done(b) : fail(new Error('the picture is too large'))), 'image/png'));
}

export function saveDrawing(subject: Subject): Blob {
    const { stage, sky } = subject, { width, height } = stage.extent, pen = new SvgPen();
    pen.raw(`<linearGradient id="sky" x2="0" y2="1"><stop stop-color="${sky[0]}"/><stop offset="1" stop-color="${sky[1]}"/></linearGradient><rect width="100%" height="100%" fill="url(#sky)"/>`);
    if (!stage.vectors(pen)) {
        // too many triangles: a picture, with lines and texts over it
        stage.enlarge(2 * width, 2 * height);
        pen.raw(`<image width="${width}" height="${height}" href="${stage.image().toDataURL('image/png')}"/>`);
        stage.enlarge(0, 0);
    }
    subject.overlay(pen, width, height);
    return new Blob([pen.document(width, height, subject.name)], { type: 'image/svg+xml' });
}

const pause = () => new Promise((done) => setTimeout(done));

// `going`: false ends it early; `told`: the finished fraction
export async function saveGif(subject: Subject, film: Film, going: () => boolean, told: (share: number) => void): Promise<Blob | null> {
    const rate = Math.min(GIF.rate, Math.max(GIF.frames / film.duration, 5)), n = Math.max(2, Math.min(GIF.frames, Math.round(film.duration * rate)));
    const easel = new Easel(subject, Math.min(GIF.width, 2 * subject.stage.extent.width));
    try {
        const at = (share: number) => {
            film.show(share * film.duration);
            easel.draw();
            return easel.pixels;
        };
        const gif = new Gif(easel.canvas.width, easel.canvas.height, [0, 0.3, 0.6, 1].map(at));
        for (let i = 0; i < n; i++) {
            gif.add(at(i / (n - 1)), i === n - 1 ? 100 : Math.round(100 / rate)); // a second at the end
            told((i + 1) / n);
            await pause();
            if (!going()) return null;
        }
        return gif.end();
    } finally {
        easel.done();
        film.end();
    }
}

// An endless film ends with `going`, and its times are those of the clock.
export async function saveVideo(subject: Subject, film: Film, format: Format, going: () => boolean, told: (share: number) => void): Promise<Blob | null> {
    const live = !Number.isFinite(film.duration), easel = new Easel(subject, Math.min(VIDEO.width, 2 * subject.stage.extent.width), 2), { width, height } = easel.canvas;
    let setup = new Uint8Array(0), failure: Error | null = null;
    const to: Container = format.ending === 'mp4' ? new Mp4(() => setup, width, height) : new WebM(format.codec === 'vp8' ? 'V_VP8' : 'V_VP9', width, height);
    const encoder = new VideoEncoder({
        output: (chunk, more) => {
            const data = new Uint8Array(chunk.byteLength), about = more?.decoderConfig?.description;
            chunk.copyTo(data);
            if (about) setup = new Uint8Array(ArrayBuffer.isView(about) ? about.buffer.slice(about.byteOffset, about.byteOffset + about.byteLength) : about.slice(0));
            to.add({ data, time: chunk.timestamp, key: chunk.type === 'key' });
        },
        error: (e) => (failure = e),
    });
    try {
        encoder.configure(encoding(format, width, height));
        const step = 1 / VIDEO.rate, n = live ? Infinity : Math.max(Math.round(film.duration * VIDEO.rate), 1), start = performance.now();
        let last = -1, key = -Infinity;
        for (let i = 0; i <= n && going() && !failure; i++) {
            const seconds = live ? (performance.now() - start) / 1000 : i * step, time = Math.max(Math.round(1e6 * seconds), last + 1);
            film.show(live ? seconds : Math.min(seconds, film.duration));
            easel.draw();
            const picture = new VideoFrame(easel.canvas, { timestamp: time });
            encoder.encode(picture, { keyFrame: time - key >= 2e6 }); // one can seek to every second second
            if (time - key >= 2e6) key = time;
            picture.close();
            last = time;
            told(i / n);
            if (live) await new Promise((done) => setTimeout(done, Math.max(0, 1000 * (seconds + step) - (performance.now() - start))));
            else await pause();
            while (encoder.encodeQueueSize > 8) await pause();
        }
        if (failure) throw failure;
        if (!live && !going()) return null;
        await encoder.flush();
        return to.end(last + Math.round(1e6 * step));
    } finally {
        if (encoder.state !== 'closed') encoder.close();
        easel.done();
        film.end();
    }
}
