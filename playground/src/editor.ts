// SPDX-License-Identifier: MIT
//
// The editor of a model: CodeMirror with YAML colours, completion of keys, words and names by the position in the tree, help
// under the mouse, and the faults that the engine reports.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, snippetCompletion, startCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, RangeSetBuilder, type Text } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers, ViewPlugin, type DecorationSet, type Tooltip, type ViewUpdate } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { make } from '../../viewer/src/dom';
import { names, scan } from './position';
import { Keys, type Language, type Word } from './schema';

export interface Problem {
    line: number;
    column: number;
    endColumn?: number;
    message: string;
    severity: 'error' | 'warning';
    file?: string;
}

// colours are variables of style.css, so that light and dark need no other editor
const colours = HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
    { tag: tags.content, color: 'var(--code-value)' },
    { tag: [tags.lineComment, tags.comment], color: 'var(--code-comment)', fontStyle: 'italic' },
    { tag: [tags.punctuation, tags.separator, tags.brace, tags.squareBracket], color: 'var(--code-mark)' },
    { tag: [tags.labelName, tags.typeName, tags.keyword, tags.meta], color: 'var(--code-word)' },
]);

// Long lines are wrapped; their continuation is indented by four columns more than they are.
function hanging(view: EditorView): DecorationSet {
    const out = new RangeSetBuilder<Decoration>();
    for (const { from, to } of view.visibleRanges) {
        for (let at = from; at <= to;) {
            const line = view.state.doc.lineAt(at), by = Math.min(/^[ -]*/.exec(line.text)![0].length + 4, 24);
            out.add(line.from, line.from, Decoration.line({ attributes: { style: `text-indent:-${by}ch;padding-left:calc(6px + ${by}ch)` } }));
            at = line.to + 1;
        }
    }
    return out.finish();
}

const wrapping = ViewPlugin.fromClass(class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
        this.decorations = hanging(view);
    }

    update(u: ViewUpdate): void {
        if (u.docChanged || u.viewportChanged) this.decorations = hanging(u.view);
    }
}, { decorations: (p) => p.decorations });

// Position of a line and column, both from 1, columns in characters; the end of the text where it has no such line.
function offset(doc: Text, line: number, column: number): number {
    if (line < 1 || line > doc.lines) return line < 1 ? 0 : doc.length;
    const l = doc.line(line);
    let at = l.from;
    for (const c of l.text) {
        if (--column < 1) break;
        at += c.length;
    }
    return Math.min(at, l.to);
}

function diagnostic(doc: Text, p: Problem): Diagnostic {
    const severity = p.severity, elsewhere = p.file !== undefined;
    const line = elsewhere ? 1 : p.line;
    let from = offset(doc, line, elsewhere ? 1 : p.column);
    let to = !elsewhere && p.endColumn ? offset(doc, line, p.endColumn) : from;
    if (to <= from) {
        const rest = doc.lineAt(from), word = /^("[^"]*"|'[^']*'|[^\s,:{}[\]]+)/.exec(rest.text.slice(from - rest.from));
        to = word ? from + word[0].length : rest.to;
        if (to <= from) from = Math.max(rest.from, to - 1);
    }
    return { from, to, severity, message: elsewhere ? `${p.file}:${p.line}: ${p.message}` : p.message };
}

export class Editor {
    readonly view: EditorView;
    private readonly keys: Keys;
    private quiet = false; // a change is not one of the user's

    constructor(parent: HTMLElement, private readonly language: Language, changed: () => void, run: () => void) {
        this.keys = new Keys(language.schema);
        this.view = new EditorView({
            parent,
            state: EditorState.create({
                extensions: [
                    lineNumbers(), foldGutter(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(),
                    EditorView.lineWrapping, wrapping, indentUnit.of('  '), EditorState.tabSize.of(2), yaml(), syntaxHighlighting(colours),
                    autocompletion({ override: [(c) => this.complete(c)], icons: false, activateOnTyping: true }),
                    hoverTooltip((v, at) => this.hover(v, at)),
                    keymap.of([{ key: 'Mod-Enter', run: () => (run(), true) }, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
                    EditorView.updateListener.of((u) => {
                        if (u.docChanged && !this.quiet) changed();
                    }),
                    EditorView.contentAttributes.of({ 'aria-label': 'model', spellcheck: 'false', autocapitalize: 'off' }),
                ],
            }),
        });
    }

    get text(): string {
        return this.view.state.doc.toString();
    }

    // Replace the whole text. `story`: show the comments before the model too, else only what follows them.
    open(text: string, story: boolean): void {
        this.quiet = true;
        const at = story ? 0 : /^(\s*#.*\n|\s*\n)*/.exec(text)![0].length;
        this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: at } });
        this.quiet = false;
        // once lines are laid out
        const scroll = () => this.view.dispatch({ effects: EditorView.scrollIntoView(Math.min(at, this.view.state.doc.length), { y: 'start' }) });
        scroll();
        requestAnimationFrame(() => requestAnimationFrame(scroll));
    }

    // Replace a part, as a user would do.
    change(from: number, to: number, insert: string): void {
        this.view.dispatch({ changes: { from, to, insert }, userEvent: 'input' });
    }

    show(problems: Problem[]): void {
        const { doc } = this.view.state;
        this.view.dispatch(setDiagnostics(this.view.state, problems.map((p) => diagnostic(doc, p))));
    }

    // Move to a fault.
    visit(p: Problem): void {
        const at = diagnostic(this.view.state.doc, p);
        this.view.dispatch({ selection: { anchor: at.from, head: at.to }, effects: EditorView.scrollIntoView(at.from, { y: 'center' }) });
        this.view.focus();
    }

    // ---- completion

    private complete(context: CompletionContext): CompletionResult | null {
        const text = this.text, { here } = scan(text, context.pos);
        const line = context.state.doc.lineAt(context.pos);
        if (/(^|\s)#/.test(line.text.slice(0, context.pos - line.from))) return null;
        const word = /[\w.@-]*$/.exec(text.slice(here.from, context.pos))![0];
        if (!word && !context.explicit && !/[\s{[,]$/.test(text.slice(0, context.pos))) return null;
        if (here.key) return this.completeKey(text, here.path, context.pos - word.length, context.explicit || word !== '');
        return this.completeValue(text, here.path, here.from, context.pos, word, context.explicit);
    }

    private completeKey(text: string, path: (string | number)[], from: number, asked: boolean): CompletionResult | null {
        if (!asked) return null;
        const { entries } = scan(text);
        const there = new Set(entries.filter((e) => e.path.length === path.length + 1 && path.every((p, i) => e.path[i] === p) && !(e.from <= from && from <= e.to)).map((e) => e.path[path.length]));
        const flow = this.inFlow(text, from);
        const options = this.keys.keys(path).filter((k) => !there.has(k.word)).map((k, i): Completion => {
            const option = { label: k.word, detail: k.form, info: k.meaning, type: 'property', boost: -i / 100 };
            const body = k.list ? (flow ? `${k.word}: [#{}]` : `${k.word}:\n  - #{}`) : k.map && flow ? `${k.word}: {#{}}` : k.map ? `${k.word}:\n  #{}` : `${k.word}: #{}`;
            const done = snippetCompletion(body, option);
            const apply = done.apply as (view: EditorView, c: Completion, a: number, b: number) => void;
            return { ...done, apply: (view, c, a, b) => {
                apply(view, c, a, b);
                setTimeout(() => startCompletion(view), 0);
            } };
        });
        return options.length ? { from, options, validFor: /^[\w-]*$/ } : null;
    }

    private completeValue(text: string, path: (string | number)[], start: number, at: number, word: string, explicit: boolean): CompletionResult | null {
        const { entries } = scan(text), known = names(entries);
        const own = (w: Word, type: string, boost = 0): Completion => ({ label: w.word, info: w.meaning || undefined, type, boost });
        const words = this.keys.values(path).map((w, i) => own(w, 'enum', -i / 100));
        const kinds = path[0] === 'live' && path.length === 1 ? ['actuator', 'parameter'] : this.keys.names(path);
        const things = kinds.flatMap((kind) => known[kind] ?? []).map((n) => own({ word: n, meaning: '' }, 'variable', 1));
        // the first word may be any of these, later words belong to an expression
        if (words.length + things.length > 0) return { from: start, options: [...words, ...things], validFor: /^[\w.@% ()-]*$/ };
        if (!this.keys.expression(path) && path[0] !== 'parameters') {
            // a bare probe such as `energy`
            if (path[0] !== 'probes' || path.length !== 2) return null;
            const bare = this.keys.keys(path).filter((k) => k.form === 'a bare word').map((k) => own(k, 'enum'));
            return bare.length ? { from: start, options: bare } : null;
        }
        if (!explicit && word.length < 1) return null;
        const after = /\d\s*\w*$/.test(text.slice(start, at));
        const options = after ? this.language.units.map((u) => own(u, 'unit'))
            : [...known.parameter.map((n) => own({ word: n, meaning: 'a parameter of this model' }, 'variable', 1)), ...this.language.functions.map((f) => own({ word: f.word.replace(/\(.*/, '('), meaning: `${f.word}: ${f.meaning}` }, 'function'))];
        return { from: at - /[A-Za-z_]\w*$|$/.exec(text.slice(start, at))![0].length, options, validFor: /^\w*$/ };
    }

    // true within braces or brackets
    private inFlow(text: string, at: number): boolean {
        let depth = 0;
        for (const c of text.slice(0, at).replace(/#.*|"[^"\n]*"|'[^'\n]*'/g, '')) depth += c === '{' || c === '[' ? 1 : c === '}' || c === ']' ? -1 : 0;
        return depth > 0;
    }

    // ---- help under the mouse

    private hover(view: EditorView, at: number): Tooltip | null {
        const text = this.text, entry = scan(text).entries.find((e) => e.from <= at && at <= e.to);
        if (entry) {
            const about = this.keys.about(entry.path);
            return about && this.tip(entry.from, entry.to, String(entry.path[entry.path.length - 1]), about.form, about.meaning);
        }
        const line = view.state.doc.lineAt(at), before = /[\w-]*$/.exec(line.text.slice(0, at - line.from))![0].length;
        const word = /^[\w-]*/.exec(text.slice(at - before))![0], { here } = scan(text, at);
        if (!word || /(^|\s)#/.test(text.slice(line.from, at))) return null;
        const kind = this.keys.values(here.path).find((v) => v.word === word && v.meaning);
        if (kind) return this.tip(at - before, at - before + word.length, word, '', kind.meaning);
        const called = this.language.functions.find((f) => f.word.startsWith(`${word}(`));
        return called && text[at - before + word.length] === '(' ? this.tip(at - before, at - before + word.length, called.word, '', called.meaning) : null;
    }

    private tip(pos: number, end: number, name: string, form: string, meaning: string): Tooltip {
        return { pos, end, above: true, create: () => ({ dom: make('div', { class: 'tip' }, make('b', {}, name), form ? make('span', { class: 'form' }, form) : '', make('p', {}, meaning)) }) };
    }
}
