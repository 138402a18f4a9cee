// SPDX-License-Identifier: MIT
//
// Script of the frame that shows the robot: the viewer, with a page given by the playground. It has a document of its own, so
// that keys, styles and sizes of viewer and editor stay apart.
import type { Arrays, Page } from '../../viewer/src/data';
import { View } from '../../viewer/src/view';
import { fromBase64 } from './share';

export type PageTexts = Record<string, string>; // text of the elements of the page by their ids

export interface Frame {
    show(texts: PageTexts, keep: boolean): void; // keep: camera, time and playing stay
    clear(): void;
    theme(dark: boolean): void;
    canvas(): HTMLCanvasElement | null;
    state(): { playing: boolean; frame: number; n: number; t: number } | null;
    key(key: string): void; // as if typed in the viewer
    node(i: number): number[];
}

let view: View | null = null, isDark = false;
const app = document.getElementById('app')!;

const frame: Frame = {
    show(texts, keep) {
        const page = JSON.parse(texts['sinew-data']) as Page;
        const arrays: Arrays = (run, name) => fromBase64((texts[`sinew-${run}-${name}`] ?? '').trim()).buffer as ArrayBuffer;
        if (view && keep) {
            view.replace(page, arrays);
            return;
        }
        view?.dispose();
        view = new View(app, page, arrays);
        view.setDark(isDark);
        view.play();
    },
    clear() {
        view?.dispose();
        view = null;
    },
    theme(dark) {
        isDark = dark;
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        view?.setDark(dark);
    },
    canvas: () => app.querySelector('canvas'),
    state: () => view?.hook().state() ?? null,
    key: (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })),
    node: (i) => view!.hook().node(i),
};
(window as unknown as { sinewFrame: Frame }).sinewFrame = frame;
