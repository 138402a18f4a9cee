// SPDX-License-Identifier: MIT
//
// The JSON Schema that `sinew schema` writes: which keys and values are possible at a path, and their meaning.
import type { Path } from './position';

export interface Schema {
    $ref?: string;
    anyOf?: Schema[];
    allOf?: Schema[];
    type?: string | string[];
    properties?: Record<string, Schema>;
    additionalProperties?: boolean | Schema;
    items?: Schema;
    enum?: (string | boolean)[];
    markdownEnumDescriptions?: string[];
    examples?: string[];
    description?: string;
    definitions?: Record<string, Schema>;
    'x-form'?: string;
    'x-names'?: string;
}

export interface Word { word: string; meaning: string }

// Words of the language beside its keys, from `sinew help language`: functions of expressions, and units.
export interface Language { schema: Schema; functions: Word[]; units: Word[] }

export class Keys {
    constructor(readonly root: Schema) {}

    // the schema and all its alternatives
    private spread(s: Schema): Schema[] {
        const to = s.$ref ? [this.root.definitions![s.$ref.replace('#/definitions/', '')]] : [];
        return [s, ...[...to, ...(s.anyOf ?? []), ...(s.allOf ?? [])].flatMap((p) => this.spread(p))];
    }

    // Schemas that fit at a path; empty: there the language is free, or has no such path.
    at(path: Path): Schema[] {
        let now = this.spread(this.root);
        for (const step of path) {
            now = now.flatMap((s) => {
                if (typeof step === 'number') return s.items ? this.spread(s.items) : [];
                const own = s.properties?.[step];
                if (own) return this.spread(own);
                return typeof s.additionalProperties === 'object' ? this.spread(s.additionalProperties) : [];
            });
        }
        return now;
    }

    // Keys of the map at a path, with their meaning and the form of the value.
    keys(path: Path): (Word & { form: string; map: boolean; list: boolean })[] {
        return this.at(path).flatMap((s) => Object.entries(s.properties ?? {}).filter(([word]) => word !== '<<').map(([word, value]) => {
            const all = this.spread(value);
            return { word, meaning: value.description ?? '', form: value['x-form'] ?? '', map: all.some((a) => a.properties || a.additionalProperties), list: all.some((a) => a.items) };
        }));
    }

    // Words that the value at a path may be.
    values(path: Path): Word[] {
        return this.at(path).flatMap((s) => [
            ...(s.enum ?? []).map((word, i) => ({ word: String(word), meaning: s.markdownEnumDescriptions?.[i] ?? '' })),
            ...(s.examples ?? []).map((word) => ({ word, meaning: '' })),
        ]).filter((w, _, all) => !(w.word === 'true' || w.word === 'false') || !all.some((o) => o.word === 'on'));
    }

    // Kinds of things whose names the value may be.
    names(path: Path): string[] {
        return this.at(path).flatMap((s) => s['x-names']?.split(' ') ?? []);
    }

    // True for a value that is an expression: a number or text that is neither a word nor a name.
    expression(path: Path): boolean {
        const at = this.at(path), types = at.flatMap((s) => s.type ?? []);
        return types.includes('number') && types.includes('string') && !at.some((s) => s.enum);
    }

    // Meaning of the key at the end of a path, with the form of its value.
    about(path: Path): { meaning: string; form: string } | null {
        const s = this.at(path).find((a) => a['x-form'] !== undefined) ?? this.at(path).find((a) => a.description);
        return s?.description ? { meaning: s.description, form: s['x-form'] ?? '' } : null;
    }
}
