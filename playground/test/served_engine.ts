// SPDX-License-Identifier: MIT
//
// The interface of web/engine.ts with the native command behind a web server (served.mjs), for tests without WebAssembly.

export interface Problem { line: number; column: number; endColumn?: number; message: string; severity: 'error' | 'warning'; file?: string }
export interface Input { files?: Record<string, string | Uint8Array>; run?: string; set?: Record<string, string> }
export interface Progress { done: number; total: number; text: string }
export interface RunResult { ok: boolean; problems: Problem[]; text: string; page: Record<string, string> | null; series: string }
export interface Row { name: string; expected: number; got: number; error: number; tolerance: number; pass: boolean; how: string; reason: string; source: string; line: number }

export interface Live { send(message: string): void; close(): void }

let stop: AbortController | null = null;

async function ask<T>(what: string, body: unknown): Promise<T> {
    stop = new AbortController();
    try {
        const answer = await fetch(`/engine/${what}`, { method: 'POST', body: JSON.stringify(body), signal: stop.signal });
        return (await answer.json()) as T;
    } catch (e) {
        throw stop.signal.aborted ? new Error('cancelled') : e;
    }
}

export interface Engine {
    check(model: string, input?: Input): Promise<{ ok: boolean; problems: Problem[]; text: string }>;
    run(model: string, options?: Input & { onProgress?: (p: Progress) => void }): Promise<RunResult>;
    verify(model: string, options?: Input & { onProgress?: (p: Progress) => void }): Promise<{ ok: boolean; problems: Problem[]; text: string; rows: Row[] }>;
    exportFile(kind: string): Promise<Uint8Array>;
    live(): Promise<Live>;
    cancel(): void;
}

export function createEngine(_: { wasm: Uint8Array; worker: () => Worker }): Engine {
    return {
        check: (model, input) => ask('check', { model, ...input }),
        run: (model, options) => ask('run', { model, ...options }),
        verify: (model, options) => ask('verify', { model, ...options }),
        exportFile: async (kind) => Uint8Array.from(await ask<number[]>('export', { kind })),
        live: () => Promise.reject(new Error('a live simulation needs WebAssembly')),
        cancel: () => stop?.abort(),
    };
}
