import { getHeapStatistics } from 'node:v8';

/*
 * V8 collects garbage only when something is allocated. A process that has come to rest keeps what its start or a burst of
 * work has left: garbage, a young generation at its full size, the bytecode of functions that ran once. So it collects once
 * by itself when it rests; that takes 50 to 100 ms.
 */

const checkMs = 30_000;
/** A process rests while it takes less of a core than this. */
const restShare = 0.02;
/** With more in use a collection takes too long; a process like that has its memory from what it stores, too. */
const maxUsedBytes = 64 * 1024 * 1024;
/** How much the heap must have grown since the last time. */
const worthBytes = 4 * 1024 * 1024;
const minChecksBetween = 10;

/** The heap of this thread. */
export interface Heap {
  /** The CPU time of the whole process. */
  cpuMs(): number;
  usedBytes(): number;
  /** What the system has given to it. */
  heldBytes(): number;
  collect(): void;
}

/** Collects the garbage of one thread whenever its process has come to rest and it pays. */
export class CollectorAtRest {
  readonly #heap: Heap;
  #cpuMs: number;
  #leftBytes = 0;
  #checksToWait = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#cpuMs = heap.cpuMs();
  }

  /** To be called every 30 s. */
  check(): void {
    const cpuMs = this.#heap.cpuMs();
    const rests = cpuMs - this.#cpuMs < checkMs * restShare;
    this.#cpuMs = cpuMs;
    this.#checksToWait--;
    if (!rests || this.#checksToWait > 0 || !this.#pays()) return;
    this.#heap.collect();
    this.#leftBytes = this.#heap.heldBytes();
    this.#cpuMs = this.#heap.cpuMs();
    this.#checksToWait = minChecksBetween;
  }

  #pays(): boolean {
    return this.#heap.heldBytes() >= this.#leftBytes + worthBytes && this.#heap.usedBytes() <= maxUsedBytes;
  }
}

/**
 * Collects this thread's garbage at rest from now on, without keeping it alive. Does nothing in a process without
 * `--expose-gc`.
 */
export function collectAtRest(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  const collector = new CollectorAtRest({
    cpuMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    usedBytes: () => getHeapStatistics().used_heap_size,
    heldBytes: () => getHeapStatistics().total_physical_size,
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  });
  setInterval(() => collector.check(), checkMs).unref();
}
