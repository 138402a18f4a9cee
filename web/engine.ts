// SPDX-License-Identifier: MIT
//
// The engine of a page: Sinew in a Web Worker. README.md describes the interface.

export type Files = Record<string, string | Uint8Array>;

export interface Problem {
    line: number; // from 1; 0: the model as a whole
    column: number; // from 1; 0: unknown
    endColumn?: number; // column behind the word at fault
    message: string;
    severity: 'error' | 'warning';
    file?: string; // where it is not in the model
}

export interface Input {
    files?: Files; // other files the model names
    run?: string; // only this run
    set?: Record<string, string>; // overrides, as --set of the command
}

export interface Progress {
    done: number;
    total: number;
    text: string;
}

export type Page = Record<string, string>;

export interface CheckResult {
    ok: boolean;
    problems: Problem[];
    text: string;
}

export interface RunResult extends CheckResult {
    page: Page | null;
    series: string;
}

export interface Row {
    name: string;
    expected: number;
    got: number;
    error: number;
    tolerance: number;
    pass: boolean;
    how: string; // within, relative, below, above, rms, max
    reason: string; // where there was nothing to compare
    source: string;
    line: number;
}

export interface VerifyResult extends CheckResult {
    rows: Row[];
}

export interface CommandResult {
    exit: number;
    output: string;
    messages: string;
    files: Record<string, Uint8Array>; // those it wrote
}

export type ExportKind = 'csv' | 'svg' | 'glb' | 'gltf';

export interface ExportOptions {
    run?: string;
    args?: string[]; // options of `sinew plot` (svg) and `sinew export`: ['--frames', '200']
}

export interface Live {
    send(message: string): void;
    close(): void;
}

export interface Engine {
    version(): Promise<string>;
    check(model: string, input?: Input): Promise<CheckResult>;
    run(model: string, options?: Input & { onProgress?: (p: Progress) => void }): Promise<RunResult>;
    verify(model: string, options?: Input & { onProgress?: (p: Progress) => void }): Promise<VerifyResult>;
    exportFile(kind: ExportKind, options?: ExportOptions): Promise<Uint8Array>;
    command(args: string[], files?: Files): Promise<CommandResult>;
    live(model: string, options: Input & { onMessage: (message: string | ArrayBuffer) => void }): Promise<Live>;
    cancel(): void;
}

export interface EngineOptions {
    worker?: () => Worker;
    wasm?: string | URL | ArrayBuffer | Uint8Array | WebAssembly.Module;
}

// Messages between page and worker.
export type Order =
    | { id: number; do: 'start'; module: WebAssembly.Module }
    | { id: number; do: 'version' }
    | { id: number; do: 'check' | 'run' | 'verify' | 'live'; model: string; input: Input }
    | { id: number; do: 'exportFile'; kind: ExportKind; options: ExportOptions }
    | { id: number; do: 'command'; args: string[]; files: Files }
    | { id: number; do: 'send'; message: string }
    | { id: number; do: 'close' };
export type Answer =
    | { id: number; type: 'done'; value: unknown }
    | { id: number; type: 'failed'; message: string }
    | { id: number; type: 'progress'; progress: Progress }
    | { id: number; type: 'message'; message: string | ArrayBuffer };

type Wanted = Order extends infer O ? (O extends Order ? Omit<O, 'id'> : never) : never;

interface Waiting {
    resolve(value: unknown): void;
    reject(reason: Error): void;
    onProgress?: (p: Progress) => void;
}

// The input without functions, which cannot be sent to a worker.
function plain(input: Input = {}): Input {
    return { files: input.files, run: input.run, set: input.set };
}

class WorkerEngine implements Engine {
    private worker: Worker | null = null;
    private module: Promise<WebAssembly.Module> | null = null;
    private started: Promise<Worker> | null = null;
    private readonly waiting = new Map<number, Waiting>();
    private last = 0;
    private onMessage: ((message: string | ArrayBuffer) => void) | null = null;

    constructor(private readonly options: EngineOptions) {}

    private async compile(): Promise<WebAssembly.Module> {
        const { wasm } = this.options;
        if (wasm instanceof WebAssembly.Module) return wasm;
        if (wasm instanceof ArrayBuffer || wasm instanceof Uint8Array) return WebAssembly.compile(wasm as BufferSource);
        const answer = await fetch(wasm ?? new URL('sinew.wasm', import.meta.url));
        if (!answer.ok) throw new Error(`sinew.wasm could not be fetched: ${answer.status} ${answer.statusText}`);
        return WebAssembly.compile(await answer.arrayBuffer());
    }

    private start(): Promise<Worker> {
        this.module ??= this.compile();
        this.started ??= this.module.then(async (module) => {
            const worker = this.options.worker?.() ?? new Worker(new URL('worker.js', import.meta.url));
            this.worker = worker;
            worker.onmessage = (e: MessageEvent<Answer>) => this.hear(e.data);
            worker.onerror = (e) => this.fail(new Error(e.message || 'the engine could not be started'));
            await this.post(worker, { do: 'start', module });
            return worker;
        });
        return this.started;
    }

    private hear(a: Answer): void {
        if (a.type === 'message') {
            this.onMessage?.(a.message);
            return;
        }
        const w = this.waiting.get(a.id);
        if (a.type === 'progress') {
            w?.onProgress?.(a.progress);
            return;
        }
        this.waiting.delete(a.id);
        if (a.type === 'done') w?.resolve(a.value);
        else {
            // the state of the instance is not known any more: begin with a new one
            w?.reject(new Error(a.message));
            if (a.message.startsWith('the engine broke down')) this.fail(new Error(a.message));
        }
    }

    private fail(reason: Error): void {
        this.worker?.terminate();
        this.worker = null;
        this.started = null;
        this.onMessage = null;
        const all = [...this.waiting.values()];
        this.waiting.clear();
        for (const w of all) w.reject(reason);
    }

    private post(worker: Worker, order: Wanted, onProgress?: (p: Progress) => void): Promise<unknown> {
        return new Promise((resolve, reject) => {
            const id = ++this.last;
            this.waiting.set(id, { resolve, reject, onProgress });
            worker.postMessage({ ...order, id });
        });
    }

    private async ask<T>(order: Wanted, onProgress?: (p: Progress) => void): Promise<T> {
        return (await this.post(await this.start(), order, onProgress)) as T;
    }

    version(): Promise<string> {
        return this.ask({ do: 'version' });
    }

    check(model: string, input?: Input): Promise<CheckResult> {
        return this.ask({ do: 'check', model, input: plain(input) });
    }

    run(model: string, options: Input & { onProgress?: (p: Progress) => void } = {}): Promise<RunResult> {
        return this.ask({ do: 'run', model, input: plain(options) }, options.onProgress);
    }

    verify(model: string, options: Input & { onProgress?: (p: Progress) => void } = {}): Promise<VerifyResult> {
        return this.ask({ do: 'verify', model, input: plain(options) }, options.onProgress);
    }

    exportFile(kind: ExportKind, options: ExportOptions = {}): Promise<Uint8Array> {
        return this.ask({ do: 'exportFile', kind, options });
    }

    command(args: string[], files: Files = {}): Promise<CommandResult> {
        return this.ask({ do: 'command', args, files });
    }

    async live(model: string, options: Input & { onMessage: (message: string | ArrayBuffer) => void }): Promise<Live> {
        const worker = await this.start();
        this.onMessage = options.onMessage;
        await this.post(worker, { do: 'live', model, input: plain(options) });
        const mine = () => this.worker === worker && this.onMessage === options.onMessage;
        return {
            send: (message) => {
                if (mine()) void this.post(worker, { do: 'send', message });
            },
            close: () => {
                if (!mine()) return;
                this.onMessage = null;
                void this.post(worker, { do: 'close' });
            },
        };
    }

    cancel(): void {
        this.fail(new Error('cancelled'));
    }
}

export function createEngine(options: EngineOptions = {}): Engine {
    return new WorkerEngine(options);
}
