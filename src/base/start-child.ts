import type { ChildProcess } from 'node:child_process';

/**
 * Resolves with a child process that runs, before anything is read of it; rejects where the system cannot start it. Node throws
 * for want of memory and processes; for want of descriptors it returns a child without the streams that its type promises, and
 * emits an error, which would end this process. `spawn` calls Node's function of that name.
 */
export async function startChild<T extends ChildProcess>(spawn: () => T): Promise<T> {
  const child = spawn();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once('spawn', resolve);
  child.on('error', reject); // stays: later ones, as of a signal that cannot be sent, end nothing either
  await promise;
  return child;
}
