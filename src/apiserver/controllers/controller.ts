import type { Clock, Logger, Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import type { Follower, Registry, Resource } from '../registry/index.ts';
import type { CachedStore } from '../storage/index.ts';
import { WorkQueue } from './work-queue.ts';

/*
 * Every controller is the same loop: its followers add keys to one queue, and `work` brings the actual state into
 * agreement with the objects, whatever has changed and however often it is called.
 *
 *     existing objects and their changes ──► follows ──► queue ──► work
 */

export interface ControllerOptions {
  registry: Registry;
  storage: CachedStore;
  clock: Clock;
  log: Logger;
}

/** The objects of a kind that a controller follows, in one namespace or, by default, in all. */
export interface Follows extends Follower {
  resource: Pick<Resource, 'follow'>;
  namespace?: string;
}

/** The parts of one run of a controller; the next run has new ones. */
export interface ControllerRun {
  follows: readonly Follows[];
  /** As WorkQueueOptions. */
  work(key: string): Promise<void>;
  /** As WorkQueueOptions. */
  atOnce?: number;
  /** Done before the first key is worked on, after all existing objects have been passed to `follows`. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Further work that goes on until `signal` aborts. */
  beside?(signal: AbortSignal): readonly Promise<void>[];
}

/** A controller as a service. `begin` is called at each start; `enqueue` adds a key to the queue of that run, which `signal` ends. */
export function controller(
  name: string,
  { clock, log }: Pick<ControllerOptions, 'clock' | 'log'>,
  begin: (enqueue: (key: string) => void, signal: AbortSignal) => ControllerRun,
): Service {
  return {
    name,
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const begun = begin((key) => queue.add(key), signal);
      const { atOnce = 1 } = begun;
      const queue = new WorkQueue({ work: (key) => begun.work(key), atOnce, clock, log });
      using _following = followAll(begun.follows);
      ready();
      await begun.prepare?.(signal);
      await Promise.all([queue.run(signal), ...(begun.beside?.(signal) ?? []), untilAborted(signal)]);
    },
  };
}

/** Follows until the result is disposed of. */
function followAll(follows: readonly Follows[]): Disposable {
  using starting = new DisposableStack();
  for (const each of follows) starting.use(each.resource.follow(each, each.namespace));
  return starting.move();
}
