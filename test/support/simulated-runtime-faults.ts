import { RuntimeError } from '../../src/agent/runtime/index.ts';

export type SimulatedCall =
  | 'runSandbox'
  | 'stopSandbox'
  | 'removeSandbox'
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listSandboxes'
  | 'listContainers'
  | 'sandboxStatus'
  | 'containerStatus'
  | 'execSync'
  | 'reopenLog'
  | 'updateResources';

export interface Fault {
  readonly call: SimulatedCall;
  /** `before` and `after` its effect; a `hang` has none until it is released, or its effect without ever answering. */
  readonly kind: 'before' | 'after' | 'hang' | 'hangAfter';
  /** How many calls it hits; default 1. */
  readonly times?: number;
  /** Default: a RuntimeError `failed`. */
  readonly error?: RuntimeError;
}

interface ActiveFault {
  readonly fault: Fault;
  left: number;
  readonly released: Promise<void>;
  release(): void;
}

/** Faults of a simulated runtime, each for the next calls of its kind. */
export class Faults {
  readonly #active: ActiveFault[] = [];

  /** Returns what lets hanging calls go on. */
  add(fault: Fault): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#active.push({ fault, left: fault.times ?? 1, released: promise, release: resolve });
    return resolve;
  }

  /** Forgets faults that hit nothing yet, and lets hanging calls go on. */
  clear(): void {
    for (const each of this.#active.splice(0)) each.release();
  }

  /** Carries out `effect` unless a fault is due. `cancel` ends only the wait of the caller. */
  async run<T>(call: SimulatedCall, effect: () => T | Promise<T>, cancel?: AbortSignal): Promise<T> {
    const active = this.#active.find(({ fault, left }) => fault.call === call && left > 0);
    if (active === undefined) return await untilCancelled(Promise.resolve(effect()), cancel);
    active.left -= 1;
    const { fault, released } = active;
    const error = fault.error ?? new RuntimeError('failed', `${call} fails as the test wants it`);
    if (fault.kind === 'before') throw error;
    if (fault.kind === 'hang') return await untilCancelled(released.then(effect), cancel);
    const result = await effect();
    if (fault.kind === 'after') throw error;
    return await untilCancelled(
      released.then(() => result),
      cancel,
    );
  }
}

/** A call that was given up goes on in the runtime: its result is lost, not its effect. */
async function untilCancelled<T>(work: Promise<T>, cancel: AbortSignal | undefined): Promise<T> {
  if (cancel === undefined) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const give = () => reject(new RuntimeError('cancelled', 'the caller gave up'));
  if (cancel.aborted) give();
  cancel.addEventListener('abort', give, { once: true });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel.removeEventListener('abort', give);
  }
}
