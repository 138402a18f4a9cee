// SPDX-License-Identifier: MIT
//
// The engine without a worker, for Node: calls block until they are done.
import { Session, type Loader } from './session';
import load from 'sinew-loader';

export type { Session } from './session';

// `wasm`: contents of sinew.wasm
export async function createLocalEngine(wasm: BufferSource): Promise<Session> {
    return Session.open(load as Loader, await WebAssembly.compile(wasm));
}
