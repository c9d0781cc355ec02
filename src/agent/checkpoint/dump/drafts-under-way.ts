import { untilAborted } from '../../../base/index.ts';

/** Which drafts this process works on, and which of them it has left with a container that may be frozen. */
export interface DraftsUnderWay {
  /** Before the draft is there, so that nobody takes it for one that was left behind. */
  begin(name: string): void;
  /** `frozenId` is of a container that could not be proven to run: the draft stays, for who looks after it. */
  end(name: string, frozenId?: string): void;
  isActive(name: string): boolean;
  /** Resolves when a draft was left so since the last time, or when `cancel` aborts. */
  untilFrozen(cancel: AbortSignal): Promise<void>;
}

/** `pending` takes the ids of containers that may be frozen, by the names of their drafts. */
export function createDraftsUnderWay(pending: Map<string, string>): DraftsUnderWay {
  const active = new Set<string>();
  let frozen = Promise.withResolvers<void>();
  return {
    begin: (name) => void active.add(name),
    end(name, frozenId) {
      if (frozenId !== undefined) pending.set(name, frozenId);
      active.delete(name);
      if (frozenId !== undefined) frozen.resolve();
    },
    isActive: (name) => active.has(name),
    async untilFrozen(cancel) {
      await Promise.race([frozen.promise, untilAborted(cancel)]);
      frozen = Promise.withResolvers();
    },
  };
}
