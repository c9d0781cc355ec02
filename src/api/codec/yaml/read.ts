import type { Event } from 'js-yaml';
import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';
import { depthLimit, isGarblingKey } from '../../json/index.ts';
import { complaintsLimit, joinPath } from '../../schema/index.ts';
import { AliasCopier } from './aliases.ts';
import { YamlError } from './error.ts';
import type { Scalar } from './scalars.ts';
import { parsePlainKey, parsePlainScalar, toKey } from './scalars.ts';
import { parseTag, parseTaggedScalar } from './tags.ts';
import type { ParsedYaml } from './types.ts';

/*
 * The library does the lexical part and returns events; values are built here. The library's own construction stops at
 * the first duplicate key. And a body must have the same value whether the client converts it to JSON itself (as kubectl
 * does) or leaves that to the server. So YAML is read as the reference reads it:
 *
 * - scalars: see scalars.ts; keys that are numbers or booleans become text;
 * - a merge key takes effect at its position, and a later key or merge wins; in a list of maps the first map wins;
 * - tags other than the standard ones of YAML are refused (the reference ignores them).
 */

type Node = Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>;
type NodeOf<T extends Node['type']> = Extract<Node, { type: T }>;
type ScalarNode = NodeOf<typeof EVENT_ID.SCALAR>;
type AliasNode = NodeOf<typeof EVENT_ID.ALIAS>;
type Tagged = Exclude<Node, AliasNode>;

/** Parses the text of one YAML document; throws YamlError with line and column, without any of the text. */
export function parseYaml(text: string): ParsedYaml {
  const reader = new Reader(text, readEvents(text));
  return { value: reader.readDocument(), duplicates: [...reader.duplicates] };
}

function readEvents(text: string): Event[] {
  try {
    return parseEvents(text, { maxDepth: depthLimit + 1 }); // the library counts the document too
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { reason, mark } = error;
    throw new YamlError(
      withoutText(reason),
      mark === undefined ? undefined : { text, offset: mark.position },
    );
  }
}

/** Removes quoted parts of the document: the library's reasons have them at the end after a colon, or in double quotes. */
function withoutText(reason: string): string {
  return reason.replace(/: .*| ".*"/s, '');
}

class Reader {
  readonly duplicates = new Set<string>();
  readonly #text: string;
  readonly #events: readonly Event[];
  #at = 0;
  readonly #anchors = new Map<string, unknown>();
  /** Anchors of nodes that are not completely read yet. */
  readonly #unfinished = new Set<string>();
  readonly #path: (string | number)[] = [];
  readonly #copier = new AliasCopier();

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  readDocument(): unknown {
    const start = this.#events[this.#at++];
    if (start === undefined) return null; // nothing but blanks and comments
    if (start.type === EVENT_ID.DOCUMENT && start.directives.some(({ kind }) => kind === 'tag')) {
      throw new YamlError('tag directives are not accepted');
    }
    const value = this.#value();
    if (this.#at + 1 < this.#events.length) throw new YamlError('there is more than one document');
    return value;
  }

  #value(): unknown {
    const node = this.#next();
    if (node.type === EVENT_ID.ALIAS) return this.#copyAlias(node);
    return this.#withAnchor(node, () => {
      if (node.type === EVENT_ID.SCALAR) return this.#scalar(node);
      return node.type === EVENT_ID.SEQUENCE ? this.#list(node) : this.#map(node);
    });
  }

  #list(node: Tagged): unknown[] {
    this.#expectTag(node, 'seq');
    const items: unknown[] = [];
    while (!this.#skipEnd()) items.push(this.#within(items.length));
    return items;
  }

  #map(node: Tagged): object {
    this.#expectTag(node, 'map');
    const entries = new Map<string, unknown>();
    const keys = new Set<string>();
    while (!this.#skipEnd()) {
      const place = this.#next();
      if (this.#isMergeKey(place)) {
        this.#merge(entries, place);
        continue;
      }
      const key = this.#key(place);
      if (keys.has(key)) this.#addDuplicate(key);
      keys.add(key);
      entries.set(key, this.#within(key));
    }
    return Object.fromEntries(entries);
  }

  #merge(into: Map<string, unknown>, place: Node): void {
    const value = this.#value();
    const sources: unknown[] = Array.isArray(value) ? value.toReversed() : [value];
    for (const source of sources) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        throw this.#error(place, 'a merge key takes a map or a list of maps');
      }
      for (const [name, inner] of Object.entries(source)) into.set(name, inner);
    }
  }

  #isMergeKey(node: Node): boolean {
    if (node.type !== EVENT_ID.SCALAR || node.style !== SCALAR_STYLE.PLAIN || node.tagStart >= 0)
      return false;
    return node.valueEnd - node.valueStart === 2 && this.#text.startsWith('<<', node.valueStart);
  }

  #key(node: Node): string {
    const key = node.type === EVENT_ID.ALIAS ? this.#aliasedKey(node) : this.#ownKey(node);
    if (key === undefined) throw this.#error(node, 'a key must be text, a number, true or false');
    // parseJson has the reason
    if (isGarblingKey(key)) throw this.#error(node, 'this server takes no keys with a backslash in them');
    return key;
  }

  #ownKey(node: Tagged): string | undefined {
    if (node.type !== EVENT_ID.SCALAR) return undefined;
    return this.#withAnchor(node, () => {
      if (node.style === SCALAR_STYLE.PLAIN && node.tagStart < 0) return parsePlainKey(this.#textOf(node));
      return toKey(this.#scalar(node));
    });
  }

  #aliasedKey(node: AliasNode): string | undefined {
    const value = this.#resolveAlias(node);
    return isScalar(value) ? toKey(value) : undefined;
  }

  #scalar(node: ScalarNode): Scalar {
    const text = this.#textOf(node);
    const tag = this.#tag(node);
    if (tag === '' && node.style !== SCALAR_STYLE.PLAIN) return text;
    const value = tag === '' ? parsePlainScalar(text) : parseTaggedScalar(tag, text);
    if (value === undefined) throw this.#error(node, `the value does not fit its tag !!${tag}`);
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw this.#error(node, 'a number that JSON does not have');
  }

  #textOf(node: ScalarNode): string {
    return getScalarValue(this.#text, node).toWellFormed(); // an escape may be half of a character
  }

  /** The name of the tag; empty where there is none. */
  #tag(node: Tagged): string {
    if (node.tagStart < 0) return '';
    const raw = this.#text.slice(node.tagStart, node.tagEnd);
    const tag = parseTag(raw);
    if (tag === undefined) throw this.#error(node, 'this tag is not accepted');
    return tag;
  }

  #expectTag(node: Tagged, expected: string): void {
    const tag = this.#tag(node);
    if (tag !== '' && tag !== expected) throw this.#error(node, `the value does not fit its tag !!${tag}`);
  }

  #withAnchor<T>(node: Tagged, read: () => T): T {
    if (node.anchorStart < 0) return read();
    const name = this.#anchorOf(node);
    this.#unfinished.add(name);
    const value = read();
    this.#unfinished.delete(name);
    this.#anchors.set(name, value);
    return value;
  }

  #resolveAlias(node: AliasNode): unknown {
    const name = this.#anchorOf(node);
    if (this.#unfinished.has(name)) throw this.#error(node, 'this anchor contains itself');
    if (this.#anchors.has(name)) return this.#anchors.get(name);
    throw this.#error(node, 'no anchor of that name stands before this alias');
  }

  #copyAlias(node: AliasNode): unknown {
    const copied = this.#copier.copy(this.#resolveAlias(node), this.#path.length);
    if ('tooMuch' in copied) throw this.#error(node, copied.tooMuch);
    return copied.value;
  }

  #anchorOf({ anchorStart, anchorEnd }: Node): string {
    return this.#text.slice(anchorStart, anchorEnd);
  }

  #within(step: string | number): unknown {
    this.#path.push(step);
    const value = this.#value();
    this.#path.pop();
    return value;
  }

  #addDuplicate(key: string): void {
    if (this.duplicates.size <= complaintsLimit) this.duplicates.add(joinPath([...this.#path, key]));
  }

  #next(): Node {
    const event = this.#events[this.#at++];
    if (event !== undefined && event.type !== EVENT_ID.DOCUMENT && event.type !== EVENT_ID.POP) return event;
    throw new Error('the YAML library reported an end without a beginning');
  }

  /** Whether the collection that is being read ends here; if so, moves past its end. */
  #skipEnd(): boolean {
    if (this.#events[this.#at]?.type !== EVENT_ID.POP) return false;
    this.#at++;
    return true;
  }

  #error(node: Node, reason: string): YamlError {
    return new YamlError(reason, { text: this.#text, offset: offsetOf(node) });
  }
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** The offset at which a node begins; an empty scalar has none of its own, so its tag or anchor counts. */
function offsetOf(node: Node): number {
  if (node.type === EVENT_ID.ALIAS) return node.anchorStart - 1; // with its asterisk
  const start = node.type === EVENT_ID.SCALAR ? node.valueStart : node.start;
  const offsets = [node.tagStart, node.anchorStart, start];
  return Math.min(...offsets.filter((offset) => offset >= 0));
}
