// SPDX-License-Identifier: MIT
//
// The examples, from the script examples.js that build.mjs writes.
import { loadScript } from './engine';
import type { Model } from './share';

export interface Example { path: string; title: string; text: string; files: string[] }

declare global {
    interface Window {
        sinewExamples?: { list: Example[]; files: Record<string, string> };
    }
}

export async function examples(): Promise<Example[]> {
    await loadScript('examples.js');
    return window.sinewExamples!.list;
}

// An example with the files it names, by their names relative to it.
export async function openExample(path: string): Promise<Model | null> {
    const found = (await examples()).find((e) => e.path === path);
    if (!found) return null;
    const all = window.sinewExamples!.files, folder = path.slice(0, path.lastIndexOf('/') + 1);
    return { text: found.text, files: Object.fromEntries(found.files.map((f) => [f, all[normal(folder + f)]])) };
}

// path without `.` and `..`
function normal(path: string): string {
    const out: string[] = [];
    for (const part of path.split('/')) {
        if (part === '..') out.pop();
        else if (part !== '.') out.push(part);
    }
    return out.join('/');
}
