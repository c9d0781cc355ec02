import { isDeepStrictEqual } from 'node:util';
import { BoundedMap } from '../../../base/index.ts';

/*
 * Facts about sandboxes and containers come from three sides that overtake each other: lists and statuses, which were asked
 * for at a known moment, and events, which carry the runtime's wall clock and may hold a state older than their own time.
 * Two things hold for all of them: an id is never used again, and a state is never left backwards (created, running, ended).
 * So what was asked for later counts more; a state further on counts whichever side brings it; and what is gone stays gone.
 */

/** When something was asked for, or an event was received. */
export interface Moment {
  /** Counts up in this process. */
  readonly order: number;
  /** By the wall clock, in milliseconds: of an event, when the runtime made it. */
  readonly atMs: number;
}

export type Origin = 'event' | 'query';

/** How far on a state is; the same for states that may follow each other either way. */
export type Progress<V> = (value: V, before: Known<V> | undefined) => number;

interface Known<V> {
  readonly value: V;
  readonly progress: number;
}

interface Entry<V> extends Known<V> {
  readonly podUid: string;
  /** Of what the value was read from. */
  readonly order: number;
  readonly atMs: number;
  /** Of the last list or event that had it. */
  presentOrder: number;
  /** Only what a list tells is known; it must be read. */
  readonly isPartial: boolean;
}

/** How many ids of what is gone are remembered; the runtime's queue of events holds 1000. */
const maxGone = 5000;

export class Entries<V extends { readonly id: string }> {
  readonly #progressOf: Progress<V>;
  readonly #byId = new Map<string, Entry<V>>();
  readonly #byPod = new Map<string, Set<string>>();
  readonly #gone = new BoundedMap<string, number>({ maxEntries: maxGone });

  constructor(progressOf: Progress<V>) {
    this.#progressOf = progressOf;
  }

  get(id: string): { readonly podUid: string; readonly value: V; readonly isPartial: boolean } | undefined {
    return this.#byId.get(id);
  }

  ofPod(podUid: string): V[] {
    return [...(this.#byPod.get(podUid) ?? [])].flatMap((id) => this.#byId.get(id)?.value ?? []);
  }

  podUids(): Iterable<string> {
    return this.#byPod.keys();
  }

  isGone(id: string): boolean {
    return this.#gone.get(id) !== undefined;
  }

  /** Returns whether the value of the entry has changed. */
  put(podUid: string, value: V, moment: Moment, origin: Origin, isPartial = false): boolean {
    const goneOrder = this.#gone.get(value.id);
    if (goneOrder !== undefined && (origin === 'event' || goneOrder > moment.order)) return false;
    const before = this.#byId.get(value.id);
    if (before !== undefined) before.presentOrder = Math.max(before.presentOrder, moment.order);
    const progress = this.#progressOf(value, before);
    if (before !== undefined && !isNewer({ ...moment, origin, progress, isPartial }, before)) return false;
    const isSame = before !== undefined && isDeepStrictEqual(before.value, value);
    this.#byId.set(value.id, {
      podUid,
      value: isSame ? before.value : value,
      progress,
      order: moment.order,
      atMs: Math.max(moment.atMs, before?.atMs ?? 0),
      presentOrder: Math.max(moment.order, before?.presentOrder ?? 0),
      isPartial,
    });
    if (before === undefined) this.#index(podUid, value.id);
    return !isSame;
  }

  /** A list that was asked for at `order` has it. */
  confirm(id: string, order: number): void {
    const entry = this.#byId.get(id);
    if (entry !== undefined) entry.presentOrder = Math.max(entry.presentOrder, order);
  }

  /** Whether a list that was asked for at `order` says something of it that is newer than what is known. */
  isBehind(id: string, order: number): boolean {
    const entry = this.#byId.get(id);
    if (entry === undefined) return (this.#gone.get(id) ?? -1) < order;
    return entry.isPartial || entry.order < order;
  }

  /** Returns the uid of its pod, if it was there. */
  remove(id: string, order: number): string | undefined {
    const entry = this.#byId.get(id);
    if (entry !== undefined && entry.presentOrder > order) return undefined;
    this.#gone.set(id, order);
    if (entry === undefined) return undefined;
    this.#byId.delete(id);
    const ofPod = this.#byPod.get(entry.podUid);
    ofPod?.delete(id);
    if (ofPod?.size === 0) this.#byPod.delete(entry.podUid);
    return entry.podUid;
  }

  /** Of those of the pod, or of all, that were not seen since the list of `order` was asked for. */
  unseen(order: number, podUid?: string): string[] {
    const ids = podUid === undefined ? this.#byId.keys() : (this.#byPod.get(podUid) ?? []);
    return [...ids].filter((id) => (this.#byId.get(id)?.presentOrder ?? order) < order);
  }

  #index(podUid: string, id: string): void {
    this.#gone.delete(id);
    const ofPod = this.#byPod.get(podUid) ?? new Set();
    ofPod.add(id);
    this.#byPod.set(podUid, ofPod);
  }
}

interface Offered extends Moment {
  readonly origin: Origin;
  readonly progress: number;
  readonly isPartial: boolean;
}

function isNewer(offered: Offered, before: Entry<unknown>): boolean {
  if (offered.isPartial) return before.isPartial;
  if (before.isPartial) return true;
  if (offered.origin === 'query' && offered.order > before.order) return true;
  if (offered.progress !== before.progress) return offered.progress > before.progress;
  return offered.origin === 'event' && offered.atMs > before.atMs;
}
