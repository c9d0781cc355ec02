import { sizeOfChange } from '../change-size.ts';
import type { Change, Revision, Stored } from '../types.ts';
import type { EventEncoding, WatchEventType } from './types.ts';

interface Frame {
  readonly type: WatchEventType;
  readonly encoding: EventEncoding;
  readonly bytes: Uint8Array;
}

/** A change with its encoded frames: each is encoded once for all watchers. */
export class WatchEvent {
  readonly change: Change;
  readonly #onGrown: (event: WatchEvent, bytes: number) => void;
  #frames: Frame[] | undefined;
  #size: number;

  /** `onGrown` is called with the bytes of each frame that is added later. */
  constructor(change: Change, onGrown: (event: WatchEvent, bytes: number) => void) {
    this.change = change;
    this.#onGrown = onGrown;
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
    this.#onGrown(this, bytes.byteLength);
    this.#size += bytes.byteLength;
    return bytes;
  }
}

/** The type that a change has for a watcher that observes only matching objects; undefined: no event. */
export function resolveEventType(
  change: Change,
  match: (object: Stored) => boolean,
): WatchEventType | undefined {
  const { previous, next } = change;
  const was = previous !== null && match(previous);
  if (next !== null && match(next)) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}

/** The bytes of a change as an event of the type that `resolveEventType` returned. */
export function encodeChange(change: Change, type: WatchEventType, encoding: EventEncoding): Uint8Array {
  const state = type === 'DELETED' ? change.previous : change.next;
  if (state === null) throw new TypeError(`revision ${change.revision} of ${change.key} is not ${type}`);
  return encoding.event(type, type === 'DELETED' ? { ...state, revision: change.revision } : state);
}
