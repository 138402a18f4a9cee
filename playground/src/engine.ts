// SPDX-License-Identifier: MIT
//
// Starts the engine of web/ from the script engine.js, which has its worker and its WebAssembly as texts: a page that was
// opened as a file cannot fetch them.
import { createEngine, type Engine } from '../../web/engine';
import { fromBase64, inflate } from './share';

declare global {
    interface Window {
        sinewEngine?: { worker: string; wasm: string }; // script; WebAssembly, compressed, in base64
    }
}

export type { Engine, Live, Problem, Row, RunResult } from '../../web/engine';

// Loads a script beside the page once; what it defines is then in the window.
const loaded = new Map<string, Promise<void>>();
export function loadScript(name: string): Promise<void> {
    let done = loaded.get(name);
    if (!done) {
        done = new Promise((resolve, reject) => {
            const script = document.createElement('script');
            script.src = name;
            script.onload = () => resolve();
            script.onerror = () => reject(new Error(`${name} is missing beside this page`));
            document.head.append(script);
        });
        loaded.set(name, done);
    }
    return done;
}

export async function startEngine(): Promise<Engine> {
    await loadScript('engine.js');
    const parts = window.sinewEngine!;
    const wasm = await inflate(fromBase64(parts.wasm));
    const address = URL.createObjectURL(new Blob([parts.worker], { type: 'text/javascript' }));
    return createEngine({ wasm, worker: () => new Worker(address) });
}
