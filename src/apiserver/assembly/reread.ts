import type { Clock, Logger, Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';

const everyMs = 5000;

export interface RereadOptions<T> {
  /** Of the service. */
  name: string;
  dependsOn: readonly string[];
  path: string;
  /** What the file holds, for people: "the authorities of clients". */
  what: string;
  /** Reads what the file has now; throws when it cannot be used. */
  read(): Promise<T>;
  /** What is in use. */
  inUse: T;
  isSame(one: T, other: T): boolean;
  /** Told what the file has from now on. */
  onChanged(next: T): void;
  clock: Clock;
  log: Logger;
}

/** A service that reads a file every five seconds. What cannot be used changes nothing, and is told once. */
export function rereadService<T>(options: RereadOptions<T>): Service {
  const { path, what, clock, log } = options;
  let { inUse } = options;
  let told = '';

  async function look(): Promise<void> {
    try {
      const next = await options.read();
      told = '';
      if (options.isSame(next, inUse)) return;
      options.onChanged(next);
      inUse = next;
      log.info({ path }, `${what} have changed`);
    } catch (error) {
      const problem = describeError(error);
      if (problem !== told) log.error({ path }, `${problem}; those of before stay in use`);
      told = problem;
    }
  }

  return {
    name: options.name,
    dependsOn: options.dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      for (;;) {
        await clock.sleep(everyMs, signal);
        if (signal.aborted) return;
        await look();
      }
    },
  };
}
