// SPDX-License-Identifier: MIT
//
// One instance of sinew.wasm: commands run in its file system, one after the other. Synchronous; the worker and Node call it.
import type { CommandResult, ExportKind, ExportOptions, Files, Input, Page, Problem, Progress, Row, RunResult, VerifyResult, CheckResult } from './engine';

// Functions of emscripten's module that are used here.
interface FileSystem {
    mkdirTree(path: string): void;
    writeFile(path: string, data: string | Uint8Array): void;
    readFile(path: string): Uint8Array;
    readdir(path: string): string[];
    isDir(mode: number): boolean;
    stat(path: string): { mode: number };
    unlink(path: string): void;
    rmdir(path: string): void;
    chdir(path: string): void;
}

interface Wasm {
    FS: FileSystem;
    HEAPU8: Uint8Array;
    HEAPU32: Uint32Array;
    _malloc(size: number): number;
    _free(at: number): void;
    _web_command(argc: number, argv: number): number;
    _web_page(path: number, name: number, output: number): number;
    _web_play_open(path: number, run: number, nset: number, set: number): number;
    _web_play_send(text: number, length: number): void;
    _web_play_tick(): void;
    _web_play_next(): number;
    _web_play_size(): number;
    _web_play_binary(): number;
    _web_play_close(): void;
    onProgress: ((done: number, total: number, text: string) => void) | null;
}

export type Loader = (options: object) => Promise<Wasm>;

const MODEL = 'model.yaml', RESULTS = 'model.h5', FOLDER = '/work';
const encoder = new TextEncoder(), decoder = new TextDecoder();

// A path inside the folder of the model; others are refused.
function inside(name: string): string {
    const parts = name.split('/').filter((p) => p !== '' && p !== '.');
    if (parts.length === 0 || parts.includes('..') || name.startsWith('/')) throw new Error(`'${name}' is not a name for a file beside the model`);
    return parts.join('/');
}

// "file:line:column: text" and "file: warning: text" on standard error.
export function readProblems(messages: string): Problem[] {
    const out: Problem[] = [];
    for (const line of messages.split('\n')) {
        const placed = /^(.*?):(\d+):(\d+): (.*)$/.exec(line), warned = /^(.*?): (warning|note): (.*)$/.exec(line), plain = /^([^:]*): (.*)$/.exec(line);
        const file = placed?.[1] ?? warned?.[1] ?? plain?.[1] ?? MODEL;
        const problem: Problem | null = placed
            ? { line: Number(placed[2]), column: Number(placed[3]), message: placed[4], severity: 'error' }
            : warned
              ? { line: 0, column: 0, message: warned[3], severity: 'warning' }
              : plain
                ? { line: 0, column: 0, message: plain[2], severity: 'error' }
                : null;
        if (!problem) continue;
        if (file !== MODEL && file !== 'sinew') problem.file = file;
        out.push(problem);
    }
    return out;
}

// endColumn of errors in the model: the end of the word that begins there
function markWords(problems: Problem[], model: string): Problem[] {
    const lines = model.split('\n');
    for (const p of problems) {
        if (p.file || p.line < 1 || p.line > lines.length) continue;
        // columns count characters, not the units of JavaScript's texts
        const word = /^(?:"[^"]*"|'[^']*'|[^\s,:[\]{}#]+)/u.exec(Array.from(lines[p.line - 1]).slice(p.column - 1).join(''));
        if (word) p.endColumn = p.column + Array.from(word[0]).length;
    }
    return problems;
}

// Text of the elements that output/page.c writes, by their ids.
function readPage(text: string): Page {
    const page: Page = {};
    let from = 0;
    for (;;) {
        const begin = text.indexOf('<script ', from);
        if (begin < 0) return page;
        const open = text.indexOf('>', begin), close = text.indexOf('</script>', open);
        const id = /id="([^"]*)"/.exec(text.slice(begin, open));
        if (id) page[id[1]] = text.slice(open + 1, close);
        from = close + 9;
    }
}

export class Session {
    private constructor(private readonly wasm: Wasm) {}

    static async open(load: Loader, module: WebAssembly.Module): Promise<Session> {
        const wasm = await load({
            instantiateWasm: (imports: WebAssembly.Imports, done: (i: WebAssembly.Instance) => void) => {
                void WebAssembly.instantiate(module, imports).then(done);
                return {};
            },
            locateFile: (name: string) => name, // the module is given, nothing is fetched
            onProgress: null,
        });
        wasm.FS.mkdirTree(FOLDER);
        wasm.FS.chdir(FOLDER);
        return new Session(wasm);
    }

    // ---- memory ----------------------------------------------------------------------------------------------------------

    // fn with C texts of these strings, and an array of pointers to them
    private withTexts<T>(texts: string[], fn: (list: number, each: number[]) => T): T {
        const { wasm } = this, bytes = texts.map((t) => encoder.encode(t));
        const list = wasm._malloc(4 * texts.length + 4), each = bytes.map((b) => wasm._malloc(b.length + 1));
        try {
            if (!list || each.includes(0)) throw new Error('the engine has no memory left');
            bytes.forEach((b, i) => {
                wasm.HEAPU8.set(b, each[i]);
                wasm.HEAPU8[each[i] + b.length] = 0;
                wasm.HEAPU32[list / 4 + i] = each[i];
            });
            wasm.HEAPU32[list / 4 + texts.length] = 0;
            return fn(list, each);
        } finally {
            each.forEach((p) => wasm._free(p));
            wasm._free(list);
        }
    }

    // bytes that the instance has
    memory(): number {
        return this.wasm.HEAPU8.length;
    }

    // ---- files -----------------------------------------------------------------------------------------------------------

    private clear(folder: string): void {
        const { FS } = this.wasm;
        for (const name of FS.readdir(folder)) {
            if (name === '.' || name === '..') continue;
            const path = `${folder}/${name}`;
            if (FS.isDir(FS.stat(path).mode)) {
                this.clear(path);
                FS.rmdir(path);
            } else if (name !== RESULTS) FS.unlink(path);
        }
    }

    private place(files: Files): void {
        this.clear(FOLDER);
        for (const [name, data] of Object.entries(files)) {
            const path = inside(name), slash = path.lastIndexOf('/');
            if (slash >= 0) this.wasm.FS.mkdirTree(`${FOLDER}/${path.slice(0, slash)}`);
            this.wasm.FS.writeFile(`${FOLDER}/${path}`, data);
        }
    }

    private text(path: string): string {
        return decoder.decode(this.wasm.FS.readFile(path));
    }

    // ---- commands --------------------------------------------------------------------------------------------------------

    private call(args: string[], onProgress?: (p: Progress) => void): CommandResult {
        const { wasm } = this;
        wasm.onProgress = onProgress ? (done, total, text) => onProgress({ done, total, text }) : null;
        const exit = this.withTexts(['sinew', ...args], (list) => wasm._web_command(args.length + 1, list));
        return { exit, output: this.text('/tmp/stdout'), messages: this.text('/tmp/stderr'), files: {} };
    }

    command(args: string[], files: Files = {}): CommandResult {
        this.place(files);
        const result = this.call(args), before = new Set(Object.keys(files).map(inside));
        for (const name of this.wasm.FS.readdir(FOLDER)) {
            const path = `${FOLDER}/${name}`;
            if (name.startsWith('.') || before.has(name) || name.endsWith('.h5') || this.wasm.FS.isDir(this.wasm.FS.stat(path).mode)) continue;
            result.files[name] = this.wasm.FS.readFile(path).slice();
        }
        return result;
    }

    private options(input: Input): string[] {
        const sets = Object.entries(input.set ?? {}).flatMap(([path, value]) => ['--set', `${path}=${value}`]);
        return [...(input.run !== undefined ? ['--run', input.run] : []), ...sets];
    }

    private prepare(model: string, input: Input): void {
        this.place({ ...input.files, [MODEL]: model });
    }

    version(): string {
        return this.call(['--version']).output.trim();
    }

    check(model: string, input: Input = {}): CheckResult {
        this.prepare(model, input);
        const { exit, output, messages } = this.call(['check', MODEL, ...this.options(input)]);
        return { ok: exit === 0, problems: markWords(readProblems(messages), model), text: output + messages };
    }

    run(model: string, input: Input = {}, onProgress?: (p: Progress) => void): RunResult {
        this.prepare(model, input);
        const done = this.call(['run', MODEL, '-o', RESULTS, '--force', ...this.options(input)], onProgress);
        const problems = markWords(readProblems(done.messages), model), text = done.output + done.messages;
        // exit status 2: the model was refused, and older results stay
        const page = done.exit === 2 ? null : this.page();
        return { ok: done.exit === 0, problems, text, page, series: page ? this.series(page) : '' };
    }

    private page(): Page | null {
        const made = this.withTexts([RESULTS, MODEL, '/tmp/page'], (_, [path, name, output]) => this.wasm._web_page(path, name, output));
        return made === 0 ? readPage(this.text('/tmp/page')) : null;
    }

    // probes of all runs, one table after the other, each with the name of its run where there are several
    private series(page: Page): string {
        const { runs } = JSON.parse(page['sinew-data']) as { runs: { name: string; frames: number }[] };
        const tables = runs.filter((r) => r.frames > 0).map((r) => {
            const csv = decoder.decode(this.exportFile('csv', { run: r.name }));
            return runs.length > 1 ? `# run ${r.name}\n${csv}` : csv;
        });
        return tables.join('\n');
    }

    verify(model: string, input: Input = {}, onProgress?: (p: Progress) => void): VerifyResult {
        this.prepare(model, input);
        const done = this.call(['verify', MODEL, '--json', ...this.options(input)], onProgress);
        interface Value { ok: boolean; probe: string; run: string; where: string; got: number | null; wanted: number | null; error: number | null; tolerance: number | null; how: string; reason: string | null; source: string | null; line: number }
        const reply = JSON.parse(done.output) as { files?: { values?: Value[] }[] };
        const values = reply.files?.flatMap((f) => f.values ?? []) ?? [];
        const number = (x: number | null) => x ?? NaN, several = new Set(values.map((v) => v.run)).size > 1;
        const rows: Row[] = values.map((v) => ({
            name: `${several ? `${v.run}: ` : ''}${v.probe}, ${v.where}`, expected: number(v.wanted), got: number(v.got), error: number(v.error),
            tolerance: number(v.tolerance), pass: v.ok, how: v.how, reason: v.reason ?? '', source: v.source ?? '', line: v.line,
        }));
        const missed = rows.filter((r) => !r.pass).length;
        const lines = rows.map((r) => `${r.pass ? 'ok  ' : 'MISS'}  ${r.name}  got ${r.got}  wanted ${r.expected}  error ${r.error}  ${r.how} ${r.tolerance}  ${r.reason || r.source}`);
        const text = `${lines.join('\n')}\n${rows.length} values, ${missed} missed\n${done.messages}`;
        return { ok: done.exit === 0, problems: markWords(readProblems(done.messages), model), text, rows };
    }

    // a file made of the last run
    exportFile(kind: ExportKind, options: ExportOptions = {}): Uint8Array {
        const output = `/tmp/export.${kind}`, args = options.args ?? [];
        const run = options.run !== undefined ? ['--run', options.run] : [];
        const command = kind === 'svg' ? 'plot' : 'export';
        const done = this.call([command, RESULTS, '-o', output, ...run, ...args]);
        if (done.exit !== 0) throw new Error(done.messages.trim() || `no ${kind} could be made`);
        const bytes = this.wasm.FS.readFile(output).slice();
        this.wasm.FS.unlink(output);
        return bytes;
    }

    // ---- live simulation -------------------------------------------------------------------------------------------------

    // a text: the error message
    openLive(model: string, input: Input): string {
        this.prepare(model, input);
        const sets = Object.entries(input.set ?? {}).map(([path, value]) => `${path}=${value}`);
        const status = this.withTexts([MODEL, input.run ?? '', ...sets], (list, [path, run]) => this.wasm._web_play_open(path, run, sets.length, list + 8));
        return status === 0 ? '' : this.text('/tmp/stderr');
    }

    tickLive(): (string | ArrayBuffer)[] {
        const { wasm } = this, out: (string | ArrayBuffer)[] = [];
        wasm._web_play_tick();
        for (let at = wasm._web_play_next(); at; at = wasm._web_play_next()) {
            const bytes = wasm.HEAPU8.slice(at, at + wasm._web_play_size());
            out.push(wasm._web_play_binary() ? bytes.buffer : decoder.decode(bytes));
        }
        return out;
    }

    sendLive(message: string): void {
        const length = encoder.encode(message).length;
        this.withTexts([message], (_, [text]) => this.wasm._web_play_send(text, length));
    }

    closeLive(): void {
        this.wasm._web_play_close();
    }
}
