import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Spare } from './file-systems.ts';

export interface RoomMakerOptions {
  /** Removes what is left of the containers of ended pods. */
  removeDeadContainers(signal: AbortSignal): Promise<void>;
  /** Removes the images that nothing uses. */
  removeUnusedImages(signal: AbortSignal): Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is removed beside the rounds; `done` never rejects. */
export interface RoomWork {
  readonly startMs: number;
  readonly done: Promise<void>;
}

/** What was removed is not looked for again before. */
const againMs = 10_000;

/** Removes what nobody uses, beside everything else: once at a time, however long the runtime takes for it. */
export class RoomMaker {
  readonly #options: RoomMakerOptions;
  /** Monotonic: when each was removed last. */
  readonly #removedMs = new Map<Spare, number>();
  #work: RoomWork | undefined;

  constructor(options: RoomMakerOptions) {
    this.#options = options;
  }

  /** What is under way, or begins now; undefined: all of it was done just now. `onBegin` is called with what is removed. */
  begin(
    spares: readonly Spare[],
    onBegin: (what: string) => void,
    signal: AbortSignal,
  ): RoomWork | undefined {
    if (this.#work !== undefined) return this.#work;
    const nowMs = this.#options.clock.monotonicMs();
    const open = spares.filter((spare) => nowMs - (this.#removedMs.get(spare) ?? -againMs) >= againMs);
    if (open.length === 0) return undefined;
    const done = this.#removeAll(open, onBegin, signal).finally(() => {
      this.#work = undefined;
    });
    this.#work = { startMs: nowMs, done };
    return this.#work;
  }

  /** A pod goes: what is left of it can be removed at once. */
  forget(): void {
    this.#removedMs.clear();
  }

  async #removeAll(
    spares: readonly Spare[],
    onBegin: (what: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (const spare of spares) {
      if (signal.aborted) return;
      const what = spare === 'containers' ? 'dead containers' : 'unused images';
      onBegin(what);
      await this.#remove(spare, signal).catch((error: unknown) => {
        if (!signal.aborted)
          this.#options.log.warn(`cannot remove ${what} to make room: ${describeError(error)}`);
      });
      this.#removedMs.set(spare, this.#options.clock.monotonicMs());
    }
  }

  async #remove(spare: Spare, signal: AbortSignal): Promise<void> {
    if (spare === 'containers') await this.#options.removeDeadContainers(signal);
    else await this.#options.removeUnusedImages(signal);
  }
}
