// SPDX-License-Identifier: MIT
//
// A model in the fragment of an address: compressed, without a server.

export interface Model {
    text: string;
    files: Record<string, string>; // other files that the model names
}

async function through(bytes: Uint8Array, by: CompressionStream | DecompressionStream): Promise<Uint8Array> {
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(by as ReadableWritablePair<Uint8Array, Uint8Array>);
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function fromBase64(text: string): Uint8Array {
    return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
    let raw = '';
    for (const b of bytes) raw += String.fromCharCode(b);
    return btoa(raw).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

export async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
    return through(bytes, new DecompressionStream('deflate-raw'));
}

export async function pack(text: string): Promise<string> {
    return toBase64(await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw')));
}

export async function unpack(text: string): Promise<string> {
    return new TextDecoder().decode(await inflate(fromBase64(text)));
}

export async function modelFragment(model: Model): Promise<string> {
    if (Object.keys(model.files).length === 0) return `m=${await pack(model.text)}`;
    return `p=${await pack(JSON.stringify({ model: model.text, files: model.files }))}`;
}

// Model of a fragment `m=..` or `p=..`, null where there is none or it is damaged.
export async function readModel(given: URLSearchParams): Promise<Model | null> {
    try {
        const m = given.get('m'), p = given.get('p');
        if (m) return { text: await unpack(m), files: {} };
        if (!p) return null;
        const both = JSON.parse(await unpack(p)) as { model: unknown; files: unknown };
        const files = Object.entries((both.files ?? {}) as Record<string, unknown>).filter((f): f is [string, string] => typeof f[1] === 'string');
        return typeof both.model === 'string' ? { text: both.model, files: Object.fromEntries(files) } : null;
    } catch {
        return null;
    }
}
