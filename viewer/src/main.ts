// SPDX-License-Identifier: MIT
//
// Entry point: a page with data shows a result file, a page without data a live simulation.
import { element, readPage } from './data';
import { make } from './dom';
import { Play } from './play';
import { View } from './view';

try {
    const page = element('sinew-data') ? new View(readPage()) : new Play();
    (window as unknown as { sinew: unknown }).sinew = page.hook();
} catch (e) {
    const box = make('p', { class: 'problem', role: 'alert' }, e instanceof Error ? e.message : String(e));
    document.getElementById('app')!.append(box);
    console.error(e);
}
