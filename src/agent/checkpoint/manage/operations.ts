import type { Clock } from '../../../base/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { Target } from '../errors.ts';
import { CheckpointError } from '../errors.ts';
import type { CheckpointRequest } from '../types.ts';
import { apiVersion } from './checkpoint-body.ts';

type OperationState = 'Queued' | 'Running' | 'Done' | 'Failed' | 'Cancelled';

/** The body of a response about a checkpoint that no client waits for. */
interface OperationBody extends Target {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'CheckpointOperation';
  readonly id: string;
  readonly state: OperationState;
  readonly requester: string;
  /** RFC 3339: when it was asked for, when the dump began, and when it ended. */
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  /** When its cancellation was requested. */
  readonly cancelledAt?: string;
  /** When `Done`: the id of the checkpoint, and the path of its archive on the node. */
  readonly checkpoint?: string;
  readonly path?: string;
  /** When `Failed` or `Cancelled`: what a synchronous request would have been answered. */
  readonly code?: number;
  readonly message?: string;
}

/** The answer of a synchronous request that failed. */
interface FailureAnswer {
  readonly code: number;
  readonly message: string;
}

interface OperationOrder {
  readonly target: Target;
  readonly timeoutMs: number;
  readonly requester: string;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
  /** Maps an error to the answer. */
  explain(error: unknown): FailureAnswer;
}

interface Operation {
  body: OperationBody;
  readonly stop: AbortController;
  /** On the monotonic clock. */
  endedMs: number | undefined;
  /** Resolves at the next change. */
  changed: PromiseWithResolvers<void>;
}

interface OperationsOptions {
  checkpointer: {
    checkpoint(request: CheckpointRequest): Promise<{ readonly path: string; readonly id?: string }>;
  };
  clock: Clock;
}

const maxOpen = 1000;
const maxEnded = 1000;
const keptMs = 3600_000;

/** The checkpoints that no client waits for. Those that have ended are kept for an hour. */
export class Operations {
  readonly #checkpointer: OperationsOptions['checkpointer'];
  readonly #clock: Clock;
  /** Part of the ids, so that ids of an earlier process are recognised. */
  readonly #instance = crypto.randomUUID().slice(0, 8);
  readonly #byId = new Map<string, Operation>();
  #begun = 0;

  constructor({ checkpointer, clock }: OperationsOptions) {
    this.#checkpointer = checkpointer;
    this.#clock = clock;
  }

  /** Throws a RefusedError (429) where too many have not ended. */
  begin(order: OperationOrder): OperationBody {
    this.#forgetOld();
    const open = [...this.#byId.values()].filter(({ endedMs }) => endedMs === undefined).length;
    if (open >= maxOpen) throw new RefusedError(429, `${open} checkpoints are under way or wait already`);
    const { target, requester } = order;
    const { namespace, pod, container } = target;
    this.#begun += 1;
    const id = `operation-${this.#instance}-${this.#begun}`;
    const operation: Operation = {
      body: {
        apiVersion,
        kind: 'CheckpointOperation',
        id,
        state: 'Queued',
        namespace,
        pod,
        container,
        requester,
        createdAt: this.#now(),
      },
      stop: new AbortController(),
      endedMs: undefined,
      changed: Promise.withResolvers(),
    };
    this.#byId.set(id, operation);
    const { body } = operation;
    void this.#work(operation, order);
    return body;
  }

  /** Throws a RefusedError (404) that says where else to look. */
  get(id: string): OperationBody {
    return this.#find(id).body;
  }

  /** Asks it to end; one that has ended stays as it is. */
  cancel(id: string, requester: string): OperationBody {
    const operation = this.#find(id);
    if (operation.endedMs === undefined && !operation.stop.signal.aborted) {
      update(operation, { cancelledAt: this.#now(), message: `cancelled by ${requester}` });
      operation.stop.abort();
    }
    return operation.body;
  }

  /** Yields the present state and each later one, up to the last; ends early when `cancel` aborts. */
  async *watch(id: string, cancel: AbortSignal): AsyncGenerator<OperationBody, void, undefined> {
    const operation = this.#find(id);
    const gone = Promise.withResolvers<void>();
    const leave = () => gone.resolve();
    cancel.addEventListener('abort', leave, { once: true });
    if (cancel.aborted) leave();
    try {
      for (;;) {
        const { body, changed, endedMs } = operation;
        yield body;
        if (endedMs !== undefined) return;
        await Promise.race([changed.promise, gone.promise]);
        if (cancel.aborted && operation.body === body) return;
      }
    } finally {
      cancel.removeEventListener('abort', leave);
    }
  }

  async #work(operation: Operation, order: OperationOrder): Promise<void> {
    const { target, timeoutMs, requester, stopping, explain } = order;
    try {
      const { path, id } = await this.#checkpointer.checkpoint({
        ...target,
        timeoutMs,
        requester,
        cancel: AbortSignal.any([operation.stop.signal, stopping]),
        stopping,
        onBegin: () => update(operation, { state: 'Running', startedAt: this.#now() }),
      });
      this.#end(operation, { state: 'Done', path, ...(id === undefined ? {} : { checkpoint: id }) });
    } catch (error) {
      this.#end(operation, describeFailure(operation, error, explain));
    }
  }

  #end(operation: Operation, change: Partial<OperationBody>): void {
    const { id } = operation.body;
    operation.endedMs = this.#clock.monotonicMs();
    // inserted again: the map's order of ended operations is the order of ending, which is that of forgetting
    this.#byId.delete(id);
    this.#byId.set(id, operation);
    update(operation, { ...change, finishedAt: this.#now() });
  }

  #find(id: string): Operation {
    this.#forgetOld();
    const found = this.#byId.get(id);
    if (found !== undefined) return found;
    const given = JSON.stringify(id.slice(0, 100));
    const why =
      /^operation-[0-9a-f]{8}-\d+$/.test(id) && !id.startsWith(`operation-${this.#instance}-`)
        ? 'it is of an agent that has ended, and what was not done by then was cancelled'
        : 'an operation that has ended is kept for an hour';
    throw new RefusedError(
      404,
      `there is no operation ${given}: ${why}; GET /checkpoints lists what was made`,
    );
  }

  #forgetOld(): void {
    const ended = [...this.#byId].filter(([, { endedMs }]) => endedMs !== undefined);
    const oldMs = this.#clock.monotonicMs() - keptMs;
    const tooMany = ended.length - maxEnded;
    ended.forEach(([id, { endedMs = 0 }], index) => {
      if (index < tooMany || endedMs < oldMs) this.#byId.delete(id);
    });
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function update(operation: Operation, change: Partial<OperationBody>): void {
  operation.body = { ...operation.body, ...change };
  operation.changed.resolve();
  operation.changed = Promise.withResolvers();
}

function describeFailure(
  { stop, body }: Operation,
  error: unknown,
  explain: OperationOrder['explain'],
): Partial<OperationBody> {
  const wasCancelled =
    stop.signal.aborted && error instanceof CheckpointError && error.reason === 'cancelled';
  if (!wasCancelled) return { state: 'Failed', ...explain(error) };
  const { namespace, pod, container, message = 'cancelled' } = body;
  const failure = `checkpointing of ${namespace}/${pod}/${container} failed (${message})`;
  return { state: 'Cancelled', code: 500, message: failure };
}
