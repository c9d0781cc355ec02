import type { Clock, Logger } from '../../base/index.ts';
import { describeError, untilAborted } from '../../base/index.ts';
import type { FoundContainer, Runtime } from '../runtime/index.ts';
import { RuntimeError } from '../runtime/index.ts';
import type { Draft } from './draft.ts';
import { beginDraft, draftName } from './draft.ts';
import type { Target } from './errors.ts';
import { timedOut } from './errors.ts';
import { preparePrivateFolder } from './folder.ts';
import { archiveName } from './names.ts';
import { readBootId } from './recover.ts';
import type { TimeLimit } from './time-limit.ts';

export interface DumperOptions {
  runtime: Pick<Runtime, 'checkpoint'>;
  /** Where archives go, an absolute path. */
  folder: string;
  log: Logger;
  clock: Clock;
  /** The root of the file system, for the id of the boot. */
  root: string;
  /** Takes the ids of containers that may be frozen, by the names of their drafts. */
  pending: Map<string, string>;
}

export interface DumpOrder {
  target: Target;
  found: FoundContainer;
  requester: string;
  limit: TimeLimit;
}

/** Makes one archive from one running container; does not care how many are made at a time. */
export interface Dumper {
  dump(order: DumpOrder, cancel: AbortSignal): Promise<{ path: string }>;
  /** Whether a dump works on that draft right now. */
  isActive(draft: string): boolean;
  /** Resolves when a dump has left a container that may be frozen since the last time, or when `cancel` aborts. */
  untilFrozen(cancel: AbortSignal): Promise<void>;
}

/** How many names in a row may be taken already. */
const nameTries = 1000;

export function createDumper(options: DumperOptions): Dumper {
  const { log, clock, pending } = options;
  const active = new Set<string>();
  let frozen = Promise.withResolvers<void>();
  let named = 0;

  function* names(target: Target, timeMs: number): Iterable<string> {
    for (let tries = 0; tries < nameTries; tries += 1) yield archiveName(target, timeMs, named++);
  }

  async function make(name: string, order: DumpOrder, cancel: AbortSignal) {
    const startedMs = clock.now();
    await using draft = await begin(options, name, order, startedMs);
    try {
      await fill(options, draft, order, cancel);
      const made = await draft.publish(names(order.target, startedMs));
      await discard(draft, false, log);
      return made;
    } catch (error) {
      await discard(draft, isStillFrozen(error), log);
      throw error;
    }
  }

  return {
    async dump(order, cancel) {
      const startedAtMs = clock.monotonicMs();
      // Before the draft is there, so that nobody takes it for one that was left behind.
      const name = draftName();
      let leftFrozen = false;
      active.add(name);
      try {
        const { path, bytes } = await make(name, order, cancel);
        const durationMs = Math.round(clock.monotonicMs() - startedAtMs);
        const { found, requester } = order;
        log.info({ container: found.id, requester, path, bytes, durationMs }, 'checkpoint made');
        return { path };
      } catch (error) {
        leftFrozen = isStillFrozen(error);
        if (leftFrozen) pending.set(name, order.found.id);
        throw error;
      } finally {
        active.delete(name);
        if (leftFrozen) frozen.resolve();
      }
    },
    isActive: (draft) => active.has(draft),
    async untilFrozen(cancel) {
      await Promise.race([frozen.promise, untilAborted(cancel)]);
      frozen = Promise.withResolvers();
    },
  };
}

async function begin(
  { folder, log, root }: DumperOptions,
  name: string,
  { target, found, requester }: DumpOrder,
  startedMs: number,
): Promise<Draft> {
  const { namespace, pod, container } = target;
  await preparePrivateFolder(folder, log);
  return await beginDraft(folder, name, {
    namespace,
    pod,
    container,
    id: found.id,
    podUid: found.podUid,
    requester,
    startedAt: new Date(startedMs).toISOString(),
    bootId: await readBootId(root),
  });
}

/** Has the runtime write the archive, for as long as the order allows. */
async function fill(
  { runtime }: DumperOptions,
  draft: Draft,
  { target, found, limit }: DumpOrder,
  cancel: AbortSignal,
): Promise<void> {
  try {
    await runtime.checkpoint(found.id, draft.archive, AbortSignal.any([cancel, limit.over]));
  } catch (error) {
    if (!limit.over.aborted || cancel.aborted || isStillFrozen(error)) throw error;
    throw timedOut(target, limit.seconds, error);
  }
}

/** The journal of a draft whose container may be frozen stays, and is looked after later. */
async function discard(draft: Draft, mayBeFrozen: boolean, log: Logger): Promise<void> {
  try {
    await draft.discard(mayBeFrozen);
  } catch (error) {
    log.error({ draft: draft.name, error: describeError(error) }, 'cannot remove a partial checkpoint');
  }
}

function isStillFrozen(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'stillFrozen';
}
