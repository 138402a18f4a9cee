// SPDX-License-Identifier: MIT
//
// Connection to a live simulation, at the address of the page. A lost connection is retried a few times.
import type { Hello, Note, State } from './live';

const TRIES = 5, BETWEEN = 1000; // ms

export interface Listener {
    hello(h: Hello): void;
    state(s: State): void;
    note(n: Note): void;
    frame(bytes: ArrayBuffer): void;
    lost(forGood: boolean): void;
}

export type Wish =
    | { do: 'set'; control: number; value: number }
    | { do: 'free'; control: number }
    | { do: 'pull'; node: number; at: number[]; to: number[]; strength: number }
    | { do: 'drop' | 'step' | 'reset' }
    | { do: 'pause' | 'record'; on: boolean }
    | { do: 'speed'; value: number };

// Way to a simulation, for the wishes of the user.
export interface Link {
    send(wish: Wish): void;
    raw(data: string | ArrayBuffer): void; // any message
}

// Pass a message of the simulation on.
export function hear(listener: Listener, message: string | ArrayBuffer): void {
    if (typeof message !== 'string') {
        listener.frame(message);
        return;
    }
    const m = JSON.parse(message) as Hello | State | Note;
    if (m.type === 'hello') listener.hello(m);
    else if (m.type === 'state') listener.state(m);
    else if (m.type === 'note') listener.note(m);
}

export class Wire implements Link {
    private socket: WebSocket | null = null;
    private tries = 0;

    constructor(private readonly listener: Listener) {
        this.open();
    }

    private open(): void {
        const socket = new WebSocket(`${location.href.split(/[?#]/)[0].replace(/^http/, 'ws')}live`);
        this.socket = socket;
        socket.binaryType = 'arraybuffer';
        socket.onmessage = (e: MessageEvent<string | ArrayBuffer>) => {
            this.tries = 0;
            hear(this.listener, e.data);
        };
        socket.onclose = () => {
            const more = this.tries++ < TRIES;
            this.listener.lost(!more);
            if (more) setTimeout(() => this.open(), BETWEEN);
        };
    }

    send(wish: Wish): void {
        this.raw(JSON.stringify(wish));
    }

    raw(data: string | ArrayBuffer): void {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data);
    }
}
