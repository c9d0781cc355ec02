import { RuntimeLock } from '../../../../src/agent/lock/index.ts';
import { describeError, silentLogger, systemClock } from '../../../../src/base/index.ts';

/*
 * An agent in a process of its own that claims the runtime at the socket of its first argument, with the root folder of its
 * second, and writes `held` or what is in the way to standard output. It keeps the runtime until its standard input ends.
 */

const [socket = '', rootDir = ''] = process.argv.slice(2);
await using lock = new RuntimeLock({ rootDir, clock: systemClock, log: silentLogger(), staleMs: 5000 });
try {
  await lock.claim(socket);
  process.stdout.write('held\n');
  const end = Promise.withResolvers<void>();
  process.stdin.on('end', () => end.resolve()).resume();
  await end.promise;
} catch (error) {
  process.stdout.write(`${describeError(error)}\n`);
}
process.stdin.destroy();
