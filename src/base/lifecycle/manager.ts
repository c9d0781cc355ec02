import { createBackoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Service } from './service.ts';
import { untilAborted } from './service.ts';
import { computeStartOrder } from './start-order.ts';

/*
 * One task per service. A task waits until what it depends on is ready, runs the service, and ends when the service has
 * ended for good. Stopping needs no list of its own: each task is stopped once every task that depends on it, directly or
 * not, has ended (one in between may have failed before). So the services stop in reverse, beginning with the leaves.
 *
 *     lock ──► runtime ──► server          start: left to right as each gets ready
 *          ◄──         ◄──                 stop:  right to left as each has ended
 */

export interface ManagerOptions {
  services: readonly Service[];
  log: Logger;
  clock: Clock;
  /** Called once, when every service is ready. */
  onReady?: () => void;
  /** Called when the stop begins, before any service is stopped. */
  onStopping?: () => void;
}

interface Task {
  readonly service: Service;
  readonly ready: PromiseWithResolvers<void>;
  readonly stop: AbortController;
  ended: Promise<void>;
  /** Settles when this task and everything that depends on it, directly or not, has ended. */
  unwound: Promise<void>;
}

const restartBackoff = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };

/**
 * Runs services until `signal` aborts or one with `onFailure: 'stop'` fails, then stops all in reverse order. Resolves
 * after the last has ended; rejects with the first failure, also after that stop.
 */
export async function runServices(options: ManagerOptions, signal: AbortSignal): Promise<void> {
  const order = computeStartOrder(options.services);
  const whole = new AbortController();
  const failures: unknown[] = [];
  const onAbort = () => whole.abort();
  whole.signal.addEventListener('abort', () => announceStopping(options), { once: true });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) whole.abort();
  const fail = (error: unknown) => {
    if (failures.length > 0) options.log.error({ err: error }, `failed too: ${describeError(error)}`);
    failures.push(error);
    whole.abort();
  };

  const tasks = new Map<string, Task>();
  for (const service of order) {
    tasks.set(service.name, {
      service,
      ready: Promise.withResolvers<void>(),
      stop: new AbortController(),
      ended: Promise.resolve(),
      unwound: Promise.resolve(),
    });
  }
  for (const task of tasks.values()) task.ended = runTask(task, tasks, whole.signal, options, fail);
  // from the leaves, so that what depends on a task comes before it
  for (const task of [...tasks.values()].reverse()) {
    task.unwound = unwind(task, tasks, whole.signal);
  }

  void allReady(tasks, whole.signal)
    .then((ready) => ready && options.onReady?.())
    .catch(fail);
  await Promise.all([...tasks.values()].map((task) => task.ended));
  signal.removeEventListener('abort', onAbort);
  if (failures.length > 0) throw failures[0];
}

/** A failure to announce the stop must not prevent it. */
function announceStopping(options: ManagerOptions): void {
  try {
    options.onStopping?.();
  } catch (error) {
    options.log.warn({ err: error }, `cannot say that the stop begins: ${describeError(error)}`);
  }
}

async function allReady(tasks: Map<string, Task>, stopping: AbortSignal): Promise<boolean> {
  const ready = Promise.all([...tasks.values()].map((task) => task.ready.promise)).then(() => true);
  const stopped = untilAborted(stopping).then(() => false);
  return (await Promise.race([ready, stopped])) && !stopping.aborted;
}

/** Once all services are stopping and everything that depends on this task has ended: stops it and waits for its end. */
async function unwind(task: Task, tasks: Map<string, Task>, stopping: AbortSignal): Promise<void> {
  await untilAborted(stopping);
  const dependents = [...tasks.values()].filter((other) =>
    other.service.dependsOn.includes(task.service.name),
  );
  await Promise.all(dependents.map((other) => other.unwound));
  task.stop.abort();
  await task.ended;
}

async function runTask(
  task: Task,
  tasks: Map<string, Task>,
  stopping: AbortSignal,
  options: ManagerOptions,
  fail: (error: unknown) => void,
): Promise<void> {
  const dependencies = task.service.dependsOn.flatMap((name) => tasks.get(name)?.ready.promise ?? []);
  await Promise.race([Promise.all(dependencies), untilAborted(stopping)]);
  if (stopping.aborted) return;
  const log = options.log.child({ part: task.service.name });
  const backoff = createBackoff(restartBackoff);
  while (!task.stop.signal.aborted) {
    const startedMs = options.clock.monotonicMs();
    const error = await runOnce(task, log);
    if (error === undefined) return;
    const isHarmless = task.stop.signal.aborted || (stopping.aborted && task.service.onFailure === 'restart');
    if (isHarmless) {
      log.warn({ err: error }, `failed while stopping: ${describeError(error)}`);
      return;
    }
    if (task.service.onFailure === 'stop') {
      fail(error);
      return;
    }
    if (options.clock.monotonicMs() - startedMs > restartBackoff.maxMs) backoff.reset();
    const waitMs = backoff.next();
    log.error(
      { err: error, retryMs: Math.round(waitMs) },
      `failed, starting it again: ${describeError(error)}`,
    );
    await options.clock.sleep(waitMs, task.stop.signal);
  }
}

/** Returns the failure of run(), or undefined when it ended because it was stopped. */
async function runOnce(task: Task, log: Logger): Promise<unknown> {
  const { service, stop, ready } = task;
  let running = true;
  try {
    await service.run(stop.signal, () => {
      if (!running) return; // a run that has ended must not make the next one ready
      log.debug('ready');
      ready.resolve();
    });
    if (stop.signal.aborted) return undefined;
    return new Error(`${service.name} ended without being told to`);
  } catch (error) {
    if (stop.signal.aborted && isAbort(error)) return undefined;
    return error ?? new Error(`${service.name} failed without saying why`);
  } finally {
    running = false;
  }
}

/** How timers, streams and fetches end when their signal aborts. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
