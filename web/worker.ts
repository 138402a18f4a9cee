// SPDX-License-Identifier: MIT
//
// The worker of engine.ts: holds the instance of sinew.wasm and executes orders one after the other.
import type { Answer, Order } from './engine';
import { Session, type Loader } from './session';
import load from 'sinew-loader';

const TICK = 1000 / 60; // ms between frames of a live simulation

let session: Session | null = null;
let timer: ReturnType<typeof setInterval> | null = null;

const answer = (a: Answer): void => (self as unknown as { postMessage(a: Answer): void }).postMessage(a);

function stopLive(): void {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    session?.closeLive();
}

function startLive(s: Session, order: Order & { do: 'live' }): void {
    const fault = s.openLive(order.model, order.input);
    if (fault) throw new Error(fault.trim());
    timer = setInterval(() => {
        try {
            for (const message of s.tickLive()) answer({ id: 0, type: 'message', message });
        } catch (e) {
            stopLive();
            answer({ id: 0, type: 'message', message: JSON.stringify({ type: 'note', words: `the engine broke down: ${String(e)}` }) });
        }
    }, TICK);
}

async function execute(order: Order): Promise<unknown> {
    if (order.do === 'start') {
        session = await Session.open(load as Loader, order.module);
        return null;
    }
    const s = session;
    if (!s) throw new Error('the engine was not started');
    if (order.do !== 'send') stopLive(); // one simulation or command at a time
    const { id } = order, onProgress = (progress: Answer & { type: 'progress' } extends { progress: infer P } ? P : never) => answer({ id, type: 'progress', progress });
    switch (order.do) {
        case 'version':
            return s.version();
        case 'check':
            return s.check(order.model, order.input);
        case 'run':
            return s.run(order.model, order.input, onProgress);
        case 'verify':
            return s.verify(order.model, order.input, onProgress);
        case 'exportFile':
            return s.exportFile(order.kind, order.options);
        case 'command':
            return s.command(order.args, order.files);
        case 'live':
            return startLive(s, order);
        case 'send':
            return s.sendLive(order.message);
        case 'close':
            return null;
    }
}

// Traps of WebAssembly leave an instance in an unknown state.
function describe(e: unknown): string {
    const text = e instanceof Error ? e.message : String(e);
    return e instanceof WebAssembly.RuntimeError || e instanceof RangeError ? `the engine broke down: ${text}` : text;
}

let queue: Promise<void> = Promise.resolve();
self.onmessage = (e: MessageEvent<Order>) => {
    const order = e.data;
    queue = queue.then(() => execute(order)).then(
        (value) => answer({ id: order.id, type: 'done', value: value ?? null }),
        (reason: unknown) => answer({ id: order.id, type: 'failed', message: describe(reason) }),
    );
};
