import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../base/index.ts';

/** What could not be given back, to its driver or its device. */
export interface VolumeLeft {
  readonly path: string;
  readonly reason: string;
  /** By the wall clock. */
  readonly sinceMs: number;
}

export interface KeepReleasingOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Calls `listener` when it may go better now. */
  onChange?(listener: () => void): Disposable;
}

/** Something that no pod has any more. */
export interface Releasing {
  /** Of all that is released here, no other has it. */
  readonly name: string;
  /** Where it is, for people. */
  readonly path: string;
  /** Rejects with what is in the way; then it is called again. */
  release(signal: AbortSignal): Promise<void>;
}

/** As the reference tries again. */
const retry = { initialMs: 500, maxMs: 122_000 };

/** Gives back what is shared by the pods of the node, trying until it is done; nobody waits for it. */
export class KeepReleasing {
  readonly #options: KeepReleasingOptions;
  readonly #left = new Map<string, VolumeLeft>();
  readonly #releasing = new Set<string>();
  readonly #end = new AbortController();

  constructor(options: KeepReleasingOptions) {
    this.#options = options;
  }

  /** Never waits. One that is being released already is not begun again. */
  begin(what: Releasing): void {
    if (this.#releasing.has(what.name)) return;
    this.#releasing.add(what.name);
    void this.#keepTrying(what).finally(() => this.#releasing.delete(what.name));
  }

  /** What could not be released yet, by path. */
  left(): VolumeLeft[] {
    return [...this.#left.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  close(): void {
    this.#end.abort();
  }

  async #keepTrying(what: Releasing): Promise<void> {
    const { clock, onChange } = this.#options;
    const { signal } = this.#end;
    const waker = createWaker(clock);
    using _change = onChange?.(() => waker.wake());
    const backoff = createBackoff(retry);
    while (!signal.aborted) {
      try {
        await what.release(signal);
        return void this.#left.delete(what.name);
      } catch (error) {
        if (!signal.aborted) this.#tell(what, describeError(error));
      }
      await waker.sleep(backoff.next(), signal);
    }
  }

  #tell({ name, path }: Releasing, reason: string): void {
    const { clock, log } = this.#options;
    const before = this.#left.get(name);
    if (before?.reason !== reason) log.warn(`volume ${name} cannot be given back, trying on: ${reason}`);
    this.#left.set(name, { path, reason, sinceMs: before?.sinceMs ?? clock.now() });
  }
}
