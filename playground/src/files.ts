// SPDX-License-Identifier: MIT
//
// Downloads: model, curves, shapes, picture and video.
import type { Frame } from './frame';

export function save(name: string, data: BlobPart, type: string): void {
    const link = document.createElement('a'), address = URL.createObjectURL(new Blob([data], { type }));
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Copy of the drawing over the background of the viewer, which the drawing itself lets through.
function copied(canvas: HTMLCanvasElement): { to: HTMLCanvasElement; draw: () => void } {
    const to = document.createElement('canvas'), pen = to.getContext('2d')!;
    to.width = canvas.width & ~1; // encoders want even sizes
    to.height = canvas.height & ~1;
    const style = canvas.ownerDocument.defaultView!.getComputedStyle(canvas.ownerDocument.documentElement);
    const ground = pen.createLinearGradient(0, 0, 0, to.height);
    ground.addColorStop(0, style.getPropertyValue('--sky').trim() || '#ffffff');
    ground.addColorStop(1, style.getPropertyValue('--floor').trim() || '#dddddd');
    const draw = () => {
        pen.fillStyle = ground;
        pen.fillRect(0, 0, to.width, to.height);
        pen.drawImage(canvas, 0, 0);
    };
    draw();
    return { to, draw };
}

export async function picture(frame: Frame): Promise<Blob> {
    const canvas = frame.canvas();
    if (!canvas) throw new Error('there is no picture yet; run the model first');
    return new Promise((resolve, reject) => copied(canvas).to.toBlob((b) => (b ? resolve(b) : reject(new Error('the picture could not be made'))), 'image/png'));
}

// Plays the motion once and records it.
export async function video(frame: Frame, told: (fraction: number) => void): Promise<Blob> {
    const canvas = frame.canvas();
    if (!canvas) throw new Error('there is no motion yet; run the model first');
    if ((frame.state()?.n ?? 0) < 2) throw new Error('the run has one frame only, nothing moves');
    const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm', 'video/mp4'].find((t) => MediaRecorder.isTypeSupported(t));
    if (!type) throw new Error('this browser cannot record videos');
    const { to, draw } = copied(canvas);
    const recorder = new MediaRecorder(to.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 }), parts: Blob[] = [];
    recorder.ondataavailable = (e) => parts.push(e.data);
    const ended = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
    if (frame.state()!.playing) frame.key(' ');
    frame.key('Home');
    recorder.start(500);
    frame.key(' ');
    let still = 0;
    while (still < 10) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        draw();
        const { playing, frame: k, n } = frame.state()!;
        told(k / (n - 1));
        still = playing && k < n - 1 ? 0 : still + 1;
    }
    recorder.stop();
    await ended;
    return new Blob(parts, { type });
}
