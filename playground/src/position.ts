// SPDX-License-Identifier: MIT
//
// Structure of a YAML text that may be incomplete, as it is while being typed: the keys with their paths, and the path at a
// position. Block maps and lists by indentation, flow maps and lists by brackets; other YAML (anchors, block texts) is text.

export type Path = (string | number)[];

export interface Entry {
    path: Path; // ends with the key
    from: number; // of the key
    to: number;
    value: number; // position of the value's first character; that behind the colon where there is none
    text: string; // scalar value on the line of the key, '' otherwise
}

export interface Here {
    path: Path; // of the map, or of the value
    key: boolean; // a key is expected, a value otherwise
    from: number; // start of the word before the position
}

interface Block { indent: number; key: string | null; index: number } // key null: an element of a list
interface Flow { list: boolean; key: string | null; index: number; from: number } // from: start of the present word

const KEY = /^("[^"]*"|'[^']*'|[^\s#{}[\],&*!|>%@"'-][^:#{}[\]]*?|-[^\s:#{}[\]][^:#{}[\]]*?|<<)\s*:(?=\s|$)/;

const plain = (word: string) => word.trim().replace(/^(["'])(.*)\1$/s, '$2');

// Keys of the text up to `end`, and what is expected there.
export function scan(text: string, end = text.length): { entries: Entry[]; here: Here } {
    const entries: Entry[] = [];
    const block: Block[] = [];
    const flow: Flow[] = [];
    let literal = -1; // indentation of the key of a block text, -1: none
    let quote = ''; // of a quoted text that goes on in the next line
    let here: Here = { path: [], key: true, from: 0 };

    const base = (): Path => block.map((b) => b.key ?? b.index);
    const path = (): Path => [...base(), ...flow.flatMap((f): Path => (f.list ? (f.key === null ? [f.index] : [f.index, f.key]) : f.key === null ? [] : [f.key]))];

    // Keys and values of a flow map or list from `at` to the end of the line; the position behind.
    const scanFlow = (at: number, stop: number): number => {
        for (let i = at; i < stop; i++) {
            const c = text[i], top = flow[flow.length - 1];
            if ((c === '"' || c === "'") && /[\s,[{:]/.test(text[i - 1] ?? ' ')) {
                const close = text.indexOf(c, i + 1);
                if (close < 0 || close >= stop) {
                    quote = c;
                    return stop;
                }
                i = close;
            } else if (c === '#' && /\s/.test(text[i - 1] ?? ' ')) {
                return stop;
            } else if (c === '{' || c === '[') {
                flow.push({ list: c === '[', key: null, index: 0, from: i + 1 });
            } else if (c === '}' || c === ']') {
                flow.pop();
                if (flow.length === 0) return i + 1;
            } else if (c === ',' && top) {
                if (top.list) top.index++;
                top.key = null;
                top.from = i + 1;
            } else if (c === ':' && top && top.key === null && (i + 1 >= text.length || /[\s,}\]]/.test(text[i + 1]))) {
                const word = text.slice(top.from, i), lead = word.length - word.trimStart().length;
                top.key = plain(word);
                top.from = i + 1;
                const value = /^[ \t]*/.exec(text.slice(i + 1))![0].length + i + 1;
                const scalar = /^("[^"]*"|'[^']*'|[^,{}[\]#\n]*)/.exec(text.slice(value))![0].trimEnd();
                entries.push({ path: path(), from: i - word.length + lead, to: i - (word.length - word.trimEnd().length), value, text: scalar });
            }
        }
        return stop;
    };

    // One line of block style.
    const scanLine = (from: number, stop: number): void => {
        let at = from + /^[ ]*/.exec(text.slice(from, stop))![0].length;
        const rest = () => text.slice(at, stop);
        const column = () => at - from;
        if (literal >= 0) {
            if (rest().trim() === '' || column() > literal) return;
            literal = -1;
        }
        if (rest().startsWith('#') || (rest() === '' && stop < end)) return;
        let item = /^-(\s+|$)/.exec(rest());
        while (item) {
            while (block.length && (block[block.length - 1].indent > column() || (block[block.length - 1].indent === column() && block[block.length - 1].key === null))) {
                const gone = block.pop()!;
                if (gone.indent === column() && gone.key === null) {
                    block.push({ indent: column(), key: null, index: gone.index + 1 });
                    break;
                }
            }
            const top = block[block.length - 1];
            if (!top || top.indent !== column() || top.key !== null) block.push({ indent: column(), key: null, index: 0 });
            at += item[0].length;
            item = /^-(\s+|$)/.exec(rest());
        }
        const key = KEY.exec(rest());
        const cut = (indent: number) => {
            while (block.length && block[block.length - 1].indent >= indent) block.pop();
        };
        if (!key) {
            if (/^[{[]/.test(rest())) scanFlow(at, stop);
            if (stop < end || flow.length > 0) return;
            // the last line, without a colon: a key is being typed, or the continuation of a text
            cut(column());
            here = { path: base(), key: true, from: at };
            return;
        }
        cut(column());
        block.push({ indent: column(), key: plain(key[1]), index: 0 });
        const colon = at + key[0].length;
        let value = colon + /^[ \t]*/.exec(text.slice(colon, stop))![0].length;
        const opens = /^[{[]/.test(text.slice(value, stop));
        const scalar = opens ? '' : text.slice(value, stop).replace(/(^|\s)#.*$/, '').trimEnd();
        if (/^[|>][-+]?$/.test(scalar)) literal = column();
        if (/^["']/.test(scalar) && text.slice(value + 1, stop).indexOf(scalar[0]) < 0) quote = scalar[0];
        entries.push({ path: base(), from: at, to: at + key[1].length, value, text: scalar });
        if (opens) value = scanFlow(value, stop);
        here = { path: base(), key: false, from: value };
    };

    for (let from = 0; from <= end;) {
        const next = text.indexOf('\n', from), stop = next < 0 || next > end ? end : next;
        const close = quote ? text.slice(from, stop).indexOf(quote) : 0;
        if (quote && close >= 0) {
            quote = '';
            if (flow.length > 0) scanFlow(from + close + 1, stop);
        } else if (!quote) {
            if (flow.length > 0) scanFlow(from, stop);
            else scanLine(from, stop);
        }
        from = stop + 1;
        if (stop === end) break;
    }
    if (flow.length > 0) {
        const top = flow[flow.length - 1];
        const lead = /^\s*/.exec(text.slice(top.from, end))![0].length;
        here = { path: path(), key: !top.list && top.key === null, from: Math.min(top.from + lead, end) };
    }
    return { entries, here };
}

// Names that a model defines, by the word of the schema's `x-names`.
export function names(entries: Entry[]): Record<string, string[]> {
    const named = (section: string) => entries.filter((e) => e.path.length === 2 && e.path[0] === section).map((e) => String(e.path[1]).replace(/\(\s*(\w+)\s*=[^)]*\)/g, '($1)'));
    const rods = entries.filter((e) => e.path.length === 3 && e.path[0] === 'robot' && (e.path[2] === 'rod' || e.path[2] === 'tubes')).map((e) => String(e.path[1]).replace(/\(\s*(\w+)\s*=[^)]*\)/g, '($1)'));
    const links = named('robot');
    const steps = entries.filter((e) => e.path[0] === 'study' && e.path.length === 3).map((e) => String(e.path[2]));
    const own = entries.filter((e) => e.path[0] === 'study' && e.path.length === 4 && e.path[3] === 'name').map((e) => e.text);
    return {
        site: ['world', ...links.flatMap((l) => (rods.includes(l) ? [`${l}.tip`, `${l}.root`, `${l}@50%`] : [l])), ...named('sites')],
        link: links,
        rod: rods,
        material: named('materials'),
        parameter: named('parameters'),
        actuator: named('actuators'),
        spring: named('springs'),
        loop: named('loops'),
        contact: named('contacts'),
        probe: named('probes'),
        run: named('runs'),
        step: [...new Set([...own, ...steps])],
    };
}
