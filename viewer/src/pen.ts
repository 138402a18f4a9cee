// SPDX-License-Identifier: MIT
//
// Flat drawing over the robot, on a canvas or as SVG: both in pixels of the stage.

export type Anchor = 'start' | 'middle' | 'end';

export interface Pen {
    line(x0: number, y0: number, x1: number, y1: number, colour: string, width: number): void;
    area(points: number[], fill: string): void;
    // colours from left to right
    ramp(x: number, y: number, width: number, height: number, stops: string[]): void;
    text(x: number, y: number, text: string, colour: string, size: number, anchor?: Anchor, bold?: boolean): void;
}

const family = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", sans-serif';

export class CanvasPen implements Pen {
    constructor(private readonly to: CanvasRenderingContext2D) {}

    line(x0: number, y0: number, x1: number, y1: number, colour: string, width: number): void {
        const { to } = this;
        to.strokeStyle = colour;
        to.lineWidth = width;
        to.lineCap = 'round';
        to.beginPath();
        to.moveTo(x0, y0);
        to.lineTo(x1, y1);
        to.stroke();
    }

    area(points: number[], fill: string): void {
        const { to } = this;
        to.fillStyle = fill;
        to.beginPath();
        for (let i = 0; i < points.length; i += 2) to.lineTo(points[i], points[i + 1]);
        to.closePath();
        to.fill();
    }

    ramp(x: number, y: number, width: number, height: number, stops: string[]): void {
        const g = this.to.createLinearGradient(x, 0, x + width, 0);
        stops.forEach((s, i) => g.addColorStop(i / (stops.length - 1), s));
        this.to.fillStyle = g;
        this.to.fillRect(x, y, width, height);
    }

    text(x: number, y: number, text: string, colour: string, size: number, anchor: Anchor = 'start', bold = false): void {
        const { to } = this;
        to.font = `${bold ? '600 ' : ''}${size}px ${family}`;
        to.fillStyle = colour;
        to.textAlign = anchor === 'middle' ? 'center' : anchor === 'end' ? 'right' : 'left';
        to.fillText(text, x, y);
    }
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string) => text.replace(/[&<>"]/g, (c) => escapes[c]).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
const fixed = (x: number) => String(Math.round(10 * x) / 10);

export class SvgPen implements Pen {
    private readonly parts: string[] = [];
    private ramps = 0;

    // any element, already valid
    raw(element: string): void {
        this.parts.push(element);
    }

    line(x0: number, y0: number, x1: number, y1: number, colour: string, width: number): void {
        this.raw(`<path d="M${fixed(x0)} ${fixed(y0)}L${fixed(x1)} ${fixed(y1)}" stroke="${colour}" stroke-width="${fixed(width)}" stroke-linecap="round"/>`);
    }

    area(points: number[], fill: string): void {
        this.raw(`<path d="M${points.map(fixed).join(' ')}Z" fill="${fill}"/>`);
    }

    ramp(x: number, y: number, width: number, height: number, stops: string[]): void {
        const id = `ramp${this.ramps++}`;
        this.raw(`<linearGradient id="${id}">${stops.map((s, i) => `<stop offset="${fixed((100 * i) / (stops.length - 1))}%" stop-color="${s}"/>`).join('')}</linearGradient><rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}" fill="url(#${id})"/>`);
    }

    text(x: number, y: number, text: string, colour: string, size: number, anchor: Anchor = 'start', bold = false): void {
        this.raw(`<text x="${fixed(x)}" y="${fixed(y)}" fill="${colour}" font-size="${fixed(size)}" text-anchor="${anchor}"${bold ? ' font-weight="600"' : ''}>${escape(text)}</text>`);
    }

    document(width: number, height: number, title: string): string {
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${fixed(width)}" height="${fixed(height)}" viewBox="0 0 ${fixed(width)} ${fixed(height)}" font-family="${escape(family)}" fill="none"><title>${escape(title)}</title>${this.parts.join('\n')}</svg>\n`;
    }
}
