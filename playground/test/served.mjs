// SPDX-License-Identifier: MIT
//
// Serves a folder, and with `sinew` the requests of served_engine.ts by the native command.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

const types = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css' };

const call = (sinew, args, cwd, signal) => new Promise((resolve) => {
    execFile(sinew, args, { cwd, signal, maxBuffer: 1 << 28 }, (fault, out, err) => resolve({ code: fault ? (fault.code ?? 1) : 0, out, err }));
});

async function answer(sinew, what, ask, last, signal) {
    const folder = mkdtempSync(path.join(tmpdir(), 'sinew-playground-'));
    try {
        writeFileSync(path.join(folder, 'model.yaml'), ask.model ?? '');
        for (const [name, text] of Object.entries(ask.files ?? {})) {
            mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
            writeFileSync(path.join(folder, name), text);
        }
        if (what === 'export') return [...last.glb];
        if (what === 'verify') {
            const { files, error } = JSON.parse((await call(sinew, ['verify', 'model.yaml', '--json'], folder, signal)).out);
            const rows = files[0].values.map((v) => ({ ...v, name: `${v.run} ${v.probe}, ${v.where}`, expected: v.wanted, pass: v.ok, reason: v.reason ?? '' }));
            return { ok: !error, problems: [], text: '', rows };
        }
        const only = [...(ask.run ? ['--run', ask.run] : []), ...Object.entries(ask.set ?? {}).flatMap(([name, value]) => ['--set', `${name}=${value}`])];
        const done = await call(sinew, what === 'check' ? ['check', 'model.yaml', '--json'] : ['run', 'model.yaml', '-o', 'out.h5', '--json', ...only], folder, signal);
        if (signal.aborted) return null;
        const { error } = JSON.parse(done.out);
        const problems = error ? [{ line: error.line ?? 0, column: error.column ?? 0, message: error.text, severity: 'error' }] : [];
        if (what === 'check' || error) return { ok: !error, problems, text: done.out, page: null, series: '' };
        await call(sinew, ['view', 'out.h5', '-o', 'out.html'], folder);
        await call(sinew, ['export', 'out.h5', '-o', 'out.glb'], folder);
        await call(sinew, ['export', 'out.h5', '-o', 'out.csv'], folder);
        last.glb = readFileSync(path.join(folder, 'out.glb'));
        const page = {};
        for (const [, id, text] of readFileSync(path.join(folder, 'out.html'), 'utf8').matchAll(/<script[^>]* id="(sinew-[^"]*)"[^>]*>(.*?)<\/script>/gs)) page[id] = text;
        return { ok: true, problems, text: done.out, page, series: readFileSync(path.join(folder, 'out.csv'), 'utf8') };
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

// The server's address, and a function that ends it.
export async function serve(folder, sinew) {
    const last = {};
    const server = createServer((request, response) => {
        const name = decodeURIComponent(new URL(request.url, 'http://here').pathname);
        if (name.startsWith('/engine/') && sinew) {
            let body = '';
            request.on('data', (part) => (body += part));
            const gone = new AbortController(); // a cancelled request ends the command
            response.on('close', () => gone.abort());
            request.on('end', async () => response.end(JSON.stringify(await answer(sinew, name.slice(8), JSON.parse(body), last, gone.signal))));
            return;
        }
        try {
            const file = path.join(folder, path.normalize(name));
            response.setHeader('Content-Type', types[name.split('.').pop()] ?? 'application/octet-stream');
            response.end(readFileSync(name.endsWith('/') ? path.join(file, 'index.html') : file));
        } catch {
            response.statusCode = 404;
            response.end();
        }
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

if (process.argv[1] === new URL(import.meta.url).pathname) console.log((await serve(process.argv[2], process.argv[3])).address);
