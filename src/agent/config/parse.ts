import type { Document, Node, Pair, Tags } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Entry, Located, Origin } from './located.ts';
import { mapOf, scalarOf } from './located.ts';
import type { Problem } from './problems.ts';

/*
 * YAML (and so JSON) text into a located value. Words such as `yes` and `off` are booleans and 0644 is octal, as
 * in YAML 1.1, which the field's other agents read; its dates, sexagesimal numbers and binary data are not known.
 *
 * The library's tree is walked here, and not turned into plain values by the library, because positions, duplicate keys, the
 * depth and the number of values count after aliases are replaced: an alias bomb is small on disk.
 */

const maxDepth = 32;
const maxValues = 50_000;
const knownTags = new Set(
  ['map', 'seq', 'str', 'null', 'bool', 'int', 'float'].map((t) => `tag:yaml.org,2002:${t}`),
);

export interface Parsed {
  /** Undefined when the text has no meaning as a whole. */
  value: Located | undefined;
  problems: Problem[];
}

export function parseText(text: string, file: string): Parsed {
  const lines = new LineCounter();
  const at = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset);
    return { kind: 'file', file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parseDocument(text, {
    schema: 'yaml-1.1',
    customTags: onlyKnownTags,
    lineCounter: lines,
    uniqueKeys: false, // the library's check is quadratic
    prettyErrors: false,
  });
  const [error] = document.errors; // the others are mostly its consequences
  if (error !== undefined) {
    return {
      value: undefined,
      problems: [{ at: at(error.pos[0]), path: '', message: syntaxMessage(error.message) }],
    };
  }
  const problems: Problem[] = document.warnings.map(({ pos, message }) => ({
    at: at(pos[0]),
    path: '',
    message,
  }));
  try {
    return { value: new Walk(document, at, problems).run(), problems };
  } catch (error) {
    if (!(error instanceof UnusableTextError)) throw error;
    const { at: place, path, message } = error;
    return { value: undefined, problems: [{ at: place, path, message }] };
  }
}

function onlyKnownTags(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag !== 'string' && knownTags.has(tag.tag) && tag.format !== 'TIME');
}

function syntaxMessage(message: string): string {
  return message.startsWith('Maximum call stack') ? 'nested too deeply' : message;
}

class UnusableTextError extends Error {
  readonly at: Origin;
  readonly path: string;

  constructor(message: string, at: Origin, path: string) {
    super(message);
    this.at = at;
    this.path = path;
  }
}

/** One pass over a document in its order, so that an alias finds the last anchor of its name before it. */
class Walk {
  readonly #document: Document.Parsed;
  readonly #at: (offset: number) => Origin;
  readonly #problems: Problem[];
  readonly #anchors = new Map<string, Node>();
  #values = 0;

  constructor(document: Document.Parsed, at: (offset: number) => Origin, problems: Problem[]) {
    this.#document = document;
    this.#at = at;
    this.#problems = problems;
  }

  run(): Located | undefined {
    const { contents } = this.#document;
    return contents === null ? undefined : this.#value(contents, '', 0);
  }

  #value(node: Node | null | undefined, path: string, depth: number): Located {
    const at = this.#at(node?.range?.[0] ?? 0);
    this.#values += 1;
    if (depth > maxDepth) throw new UnusableTextError(`nested deeper than ${maxDepth}`, at, path);
    if (this.#values > maxValues) throw new UnusableTextError(`more than ${maxValues} values`, at, path);
    if (isAlias(node)) return this.#value(this.#source(node.source, at, path), path, depth + 1);
    if (node && 'anchor' in node && node.anchor) this.#anchors.set(node.anchor, node);
    if (isMap<Node, Node | null>(node)) return mapOf(this.#entries(node.items, path, depth), at);
    if (isSeq<Node>(node)) {
      const items = node.items.map((item, index) => this.#value(item, `${path}[${index}]`, depth + 1));
      return { type: 'list', items, at };
    }
    return scalarOf(this.#scalar(isScalar(node) ? node.value : null, at, path), at);
  }

  #source(anchor: string, at: Origin, path: string): Node {
    const source = this.#anchors.get(anchor);
    if (source === undefined)
      throw new UnusableTextError(`there is no anchor &${anchor} before this`, at, path);
    return source;
  }

  #scalar(value: unknown, at: Origin, path: string) {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    const what = typeof value === 'number' ? String(value) : 'a value of this sort';
    this.#problems.push({ at, path, message: `${what} has no meaning here` });
    return null;
  }

  #entries(pairs: readonly Pair<Node, Node | null>[], path: string, depth: number): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    const merged: Entry[] = [];
    for (const { key, value } of pairs) {
      const keyAt = this.#at(key.range?.[0] ?? 0);
      const name = this.#key(key, keyAt, path);
      const inner = path === '' ? name : `${path}.${name}`;
      const before = entries.get(name);
      const located = value === null ? scalarOf(null, keyAt) : this.#value(value, inner, depth + 1);
      const entry = { keyAt, value: located };
      if (name === '<<' && isScalar(key) && key.type === 'PLAIN') merged.push(entry);
      else if (before === undefined) entries.set(name, entry);
      else this.#problems.push({ at: keyAt, path: inner, message: duplicate(before.keyAt) });
    }
    for (const entry of merged) this.#merge(entries, entry, path);
    return entries;
  }

  #key(node: Node, at: Origin, path: string): string {
    const source = isAlias(node) ? this.#source(node.source, at, path) : node;
    if (isScalar(source) && source.anchor) this.#anchors.set(source.anchor, source);
    if (isScalar(source) && source.value !== null) return String(source.value);
    throw new UnusableTextError('a key must be a word', at, path);
  }

  /** `<<: *anchor`: the other map's fields, where they are not stated. */
  #merge(entries: Map<string, Entry>, { keyAt, value }: Entry, path: string): void {
    const sources = value.type === 'list' ? value.items : [value];
    for (const source of sources) {
      if (source.type !== 'map') {
        this.#problems.push({ at: keyAt, path, message: '<< needs a map or a list of maps' });
        continue;
      }
      for (const [key, entry] of source.entries) if (!entries.has(key)) entries.set(key, entry);
    }
  }
}

function duplicate(before: Origin): string {
  return `stated twice${before.kind === 'file' ? `, first in line ${before.line}` : ''}`;
}
