// SPDX-License-Identifier: MIT
//
// Script of the frame that shows the robot: the viewer, with a page given by the playground. It has a document of its own, so
// that keys, styles and sizes of viewer and editor stay apart.
import type { Arrays, Page } from '../../viewer/src/data';
import { Play } from '../../viewer/src/play';
import { View } from '../../viewer/src/view';
import { hear, type Listener } from '../../viewer/src/wire';
import { fromBase64 } from './share';

export type PageTexts = Record<string, string>; // text of the elements of the page by their ids

export interface Frame {
    show(texts: PageTexts, keep: boolean): void; // keep: camera, time and playing stay
    // A live simulation instead: `send` takes the wishes of the user, the function returned the messages of the simulation.
    live(send: (message: string) => void): (message: string | ArrayBuffer) => void;
    theme(dark: boolean): void;
    save(): void; // opens the viewer's menu of pictures and videos
    state(): { playing: boolean; frame: number; n: number; t: number } | null;
    moving(): { t: number; paused?: boolean } | null; // of a live simulation
    key(key: string): void; // as if typed in the viewer
    node(i: number): number[];
}

let view: View | null = null, play: Play | null = null, isDark = false;
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
        // readers who prefer no motion start it themselves
        if (!window.matchMedia('(prefers-reduced-motion: reduce)').matches) view.play();
    },
    live(send) {
        view?.dispose();
        view = null;
        let listener: Listener | null = null;
        play = new Play(app, (l) => {
            listener = l;
            return { send: (wish) => send(JSON.stringify(wish)), raw: (data) => send(String(data)) };
        });
        play.setDark(isDark);
        return (message) => hear(listener!, message);
    },
    theme(dark) {
        isDark = dark;
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        view?.setDark(dark);
        play?.setDark(dark);
    },
    save() {
        const menu = app.querySelector<HTMLDetailsElement>('.menu.save');
        // the click that asked for it closes menus first
        setTimeout(() => menu && (menu.open = true));
    },
    state: () => view?.hook().state() ?? null,
    moving: () => play?.hook().state() ?? null,
    key: (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })),
    node: (i) => view!.hook().node(i),
};
(window as unknown as { sinewFrame: Frame }).sinewFrame = frame;
