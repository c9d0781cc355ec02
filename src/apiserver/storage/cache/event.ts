import { sizeOfChange } from '../change-size.ts';
import type { Change, Revision, Stored } from '../types.ts';
import type { EventEncoding, WatchEventType } from './types.ts';

interface Frame {
  readonly type: WatchEventType;
  readonly encoding: EventEncoding;
  readonly bytes: Uint8Array;
}

/** A change with the bytes that were made of it, each once for all watchers. */
export class WatchEvent {
  readonly change: Change;
  readonly #grown: (event: WatchEvent, bytes: number) => void;
  #frames: Frame[] | undefined;
  #size: number;

  /** `grown` is told of memory taken after the start. */
  constructor(change: Change, grown: (event: WatchEvent, bytes: number) => void) {
    this.change = change;
    this.#grown = grown;
    this.#size = sizeOfChange(change);
  }

  get revision(): Revision {
    return this.change.revision;
  }

  get size(): number {
    return this.#size;
  }

  frame(type: WatchEventType, encoding: EventEncoding): Uint8Array {
    const known = this.#frames?.find((frame) => frame.type === type && frame.encoding === encoding);
    if (known !== undefined) return known.bytes;
    const bytes = encodeChange(this.change, type, encoding);
    this.#frames ??= [];
    this.#frames.push({ type, encoding, bytes });
    this.#grown(this, bytes.byteLength);
    this.#size += bytes.byteLength;
    return bytes;
  }
}

/** What a change is to a reader who sees only what matches; undefined: nothing. */
export function eventType(change: Change, match: (object: Stored) => boolean): WatchEventType | undefined {
  const { previous, next } = change;
  const was = previous !== null && match(previous);
  if (next !== null && match(next)) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

/** The bytes of a change as an event of a type that `eventType` gave. */
export function encodeChange(change: Change, type: WatchEventType, encoding: EventEncoding): Uint8Array {
  const state = type === 'DELETED' ? change.previous : change.next;
  if (state === null) throw new TypeError(`revision ${change.revision} of ${change.key} is not ${type}`);
  return encoding.event(type, type === 'DELETED' ? { ...state, revision: change.revision } : state);
}
