import type { Clock } from '../../../base/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { Target } from '../errors.ts';
import { CheckpointError } from '../errors.ts';
import type { CheckpointRequest } from '../types.ts';
import { apiVersion } from './shown.ts';

export type OperationState = 'Queued' | 'Running' | 'Done' | 'Failed' | 'Cancelled';

/** A checkpoint that nobody waits for, as it is answered. */
export interface ShownOperation extends Target {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'CheckpointOperation';
  readonly id: string;
  readonly state: OperationState;
  readonly requester: string;
  /** RFC 3339: when it was asked for, when the dump began, and when it ended. */
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** When it was told to stop. */
  readonly cancelledAt?: string;
  /** Of one that is done: the id of the checkpoint, and the path of its archive on the node. */
  readonly checkpoint?: string;
  readonly path?: string;
  /** Of one that failed: what the synchronous request would have answered. */
  readonly code?: number;
  readonly message?: string;
}

/** What a synchronous request would have answered. */
export interface Answered {
  readonly code: number;
  readonly message: string;
}

export interface OperationOrder {
  readonly target: Target;
  readonly timeoutMs: number;
  readonly requester: string;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
  /** What is told of a failure. */
  explain(error: unknown): Answered;
}

/** The checkpoints that were asked for and are not waited for; those that have ended are kept for an hour. */
export interface Operations {
  /** Throws a RefusedError where there are too many that have not ended. */
  begin(order: OperationOrder): ShownOperation;
  /** Throws a RefusedError (404) that tells where else to look. */
  get(id: string): ShownOperation;
  /** Asks it to end; one that has ended stays as it is. */
  cancel(id: string, requester: string): ShownOperation;
  /** The present state and each one after it, up to the last; ends early when `cancel` aborts. */
  watch(id: string, cancel: AbortSignal): AsyncGenerator<ShownOperation, void, undefined>;
}

interface Operation {
  shown: ShownOperation;
  readonly stop: AbortController;
  /** On the monotonic clock. */
  endedMs: number | undefined;
  /** Resolves at the next change. */
  changed: PromiseWithResolvers<void>;
}

export interface OperationsOptions {
  checkpointer: {
    checkpoint(request: CheckpointRequest): Promise<{ readonly path: string; readonly id?: string }>;
  };
  clock: Clock;
}

const maxOpen = 1000;
const maxEnded = 1000;
const keptMs = 3600_000;

export function createOperations({ checkpointer, clock }: OperationsOptions): Operations {
  const instance = crypto.randomUUID().slice(0, 8);
  const byId = new Map<string, Operation>();
  let begun = 0;

  const now = () => new Date(clock.now()).toISOString();

  function update(operation: Operation, change: Partial<ShownOperation>): void {
    operation.shown = { ...operation.shown, ...change };
    operation.changed.resolve();
    operation.changed = Promise.withResolvers();
  }

  function forgetOld(): void {
    const ended = [...byId].filter(([, { endedMs }]) => endedMs !== undefined);
    const oldMs = clock.monotonicMs() - keptMs;
    const tooMany = ended.length - maxEnded;
    ended.forEach(([id, { endedMs = 0 }], index) => {
      if (index < tooMany || endedMs < oldMs) byId.delete(id);
    });
  }

  function find(id: string): Operation {
    forgetOld();
    const found = byId.get(id);
    if (found !== undefined) return found;
    const shownId = JSON.stringify(id.slice(0, 100));
    const why =
      /^operation-[0-9a-f]{8}-\d+$/.test(id) && !id.startsWith(`operation-${instance}-`)
        ? 'it is of an agent that has ended, and what was not done by then was cancelled'
        : 'an operation that has ended is kept for an hour';
    throw new RefusedError(
      404,
      `there is no operation ${shownId}: ${why}; GET /checkpoints lists what was made`,
    );
  }

  async function work(operation: Operation, order: OperationOrder): Promise<void> {
    const { target, timeoutMs, requester, stopping, explain } = order;
    try {
      const { path, id } = await checkpointer.checkpoint({
        ...target,
        timeoutMs,
        requester,
        cancel: AbortSignal.any([operation.stop.signal, stopping]),
        stopping,
        onBegin: () => update(operation, { state: 'Running', startedAt: now() }),
      });
      end(operation, { state: 'Done', path, ...(id === undefined ? {} : { checkpoint: id }) });
    } catch (error) {
      end(operation, failureOf(operation, error, explain));
    }
  }

  function end(operation: Operation, change: Partial<ShownOperation>): void {
    operation.endedMs = clock.monotonicMs();
    // the order of ending is the order of forgetting
    byId.delete(operation.shown.id);
    byId.set(operation.shown.id, operation);
    update(operation, { ...change, finishedAt: now() });
  }

  return {
    begin(order) {
      forgetOld();
      const open = [...byId.values()].filter(({ endedMs }) => endedMs === undefined).length;
      if (open >= maxOpen) throw new RefusedError(429, `${open} checkpoints are under way or wait already`);
      const { target, requester } = order;
      const { namespace, pod, container } = target;
      begun += 1;
      const id = `operation-${instance}-${begun}`;
      const operation: Operation = {
        shown: {
          apiVersion,
          kind: 'CheckpointOperation',
          id,
          state: 'Queued',
          namespace,
          pod,
          container,
          requester,
          createdAt: now(),
        },
        stop: new AbortController(),
        endedMs: undefined,
        changed: Promise.withResolvers(),
      };
      byId.set(id, operation);
      const { shown } = operation;
      void work(operation, order);
      return shown;
    },
    get: (id) => find(id).shown,
    cancel(id, requester) {
      const operation = find(id);
      if (operation.endedMs === undefined && !operation.stop.signal.aborted) {
        update(operation, { cancelledAt: now(), message: `cancelled by ${requester}` });
        operation.stop.abort();
      }
      return operation.shown;
    },
    async *watch(id, cancel) {
      const operation = find(id);
      const gone = Promise.withResolvers<void>();
      const leave = () => gone.resolve();
      cancel.addEventListener('abort', leave, { once: true });
      if (cancel.aborted) leave();
      try {
        for (;;) {
          const { shown, changed, endedMs } = operation;
          yield shown;
          if (endedMs !== undefined) return;
          await Promise.race([changed.promise, gone.promise]);
          if (cancel.aborted && operation.shown === shown) return;
        }
      } finally {
        cancel.removeEventListener('abort', leave);
      }
    },
  };
}

function failureOf(
  { stop, shown }: Operation,
  error: unknown,
  explain: OperationOrder['explain'],
): Partial<ShownOperation> {
  const wasCancelled =
    stop.signal.aborted && error instanceof CheckpointError && error.reason === 'cancelled';
  if (!wasCancelled) return { state: 'Failed', ...explain(error) };
  const { namespace, pod, container, message = 'cancelled' } = shown;
  const told = `checkpointing of ${namespace}/${pod}/${container} failed (${message})`;
  return { state: 'Cancelled', code: 500, message: told };
}
