import type { Clock, Logger, Service } from '../../base/index.ts';
import { createFileFollower } from '../../base/index.ts';

const intervalMs = 5000;

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
  /** Called with what the file has from now on. */
  onChanged(next: T): void;
  clock: Clock;
  log: Logger;
}

/** A service that reads a file every five seconds. A file that cannot be used changes nothing. */
export function createFileReload<T>(options: RereadOptions<T>): Service {
  const { name, dependsOn, path, what, clock, log } = options;
  let { inUse } = options;
  return createFileFollower({
    name,
    dependsOn,
    intervalMs,
    clock,
    async reread() {
      const next = await options.read();
      if (options.isSame(next, inUse)) return;
      options.onChanged(next);
      inUse = next;
      log.info({ path }, `${what} have changed`);
    },
    onProblem: (problem) => log.error({ path }, `${problem}; those of before stay in use`),
  });
}
