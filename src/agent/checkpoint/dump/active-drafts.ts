import { untilAborted } from '../../../base/index.ts';

/** The drafts that this process works on, and those that it left behind with a container that may be frozen. */
export class ActiveDrafts {
  readonly #active = new Set<string>();
  readonly #pending: Map<string, string>;
  #leftFrozen = Promise.withResolvers<void>();

  /** `pending` takes the ids of containers that may be frozen, by the names of their drafts. */
  constructor(pending: Map<string, string>) {
    this.#pending = pending;
  }

  /** To be called before the draft's folder exists, so that recovery never takes it for one that was left behind. */
  begin(name: string): void {
    this.#active.add(name);
  }

  /** `frozenId` is the container that could not be proven to run: its draft stays, and recovery takes it over. */
  end(name: string, frozenId?: string): void {
    if (frozenId !== undefined) this.#pending.set(name, frozenId);
    this.#active.delete(name);
    if (frozenId !== undefined) this.#leftFrozen.resolve();
  }

  isActive(name: string): boolean {
    return this.#active.has(name);
  }

  /** Resolves when a draft was left with a `frozenId` since the last call resolved, or when `cancel` aborts. */
  async untilFrozen(cancel: AbortSignal): Promise<void> {
    await Promise.race([this.#leftFrozen.promise, untilAborted(cancel)]);
    this.#leftFrozen = Promise.withResolvers();
  }
}
