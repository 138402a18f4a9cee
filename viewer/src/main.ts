// SPDX-License-Identifier: MIT
//
// Entry point: a page with data shows a result file, a page without data a live simulation.
import { pageHere } from './data';
import { make } from './dom';
import { Play } from './play';
import { View } from './view';

const app = document.getElementById('app')!;
try {
    const data = pageHere();
    const page = data ? new View(app, data.page, data.arrays) : new Play(app);
    (window as unknown as { sinew: unknown }).sinew = page.hook();
} catch (e) {
    const box = make('p', { class: 'problem', role: 'alert' }, e instanceof Error ? e.message : String(e));
    app.append(box);
    console.error(e);
}
