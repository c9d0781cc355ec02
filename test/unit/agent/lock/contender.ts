import { acquireLock } from '../../../../src/agent/lock/index.ts';
import { describeError, ExitError, silentLogger, systemClock } from '../../../../src/base/index.ts';

/*
 * A process of its own that takes the lock named by its first argument and tells of it on standard output, one JSON
 * object a line. The second argument holds further options. It keeps the lock until its standard input ends.
 */

const [path = '', extra = '{}'] = process.argv.slice(2);
const tell = (event: string, message = '') =>
  process.stdout.write(`${JSON.stringify({ event, message, pid: process.pid })}\n`);

try {
  await using lock = await acquireLock({
    path,
    clock: systemClock,
    log: silentLogger(),
    ...JSON.parse(extra),
  });
  tell('got');
  const end = Promise.withResolvers<void>();
  lock.lost.addEventListener('abort', () => {
    tell('lost', describeError(lock.lost.reason));
    end.resolve();
  });
  lock.contended.addEventListener('abort', () => {
    tell('contended', describeError(lock.contended.reason));
    end.resolve();
  });
  process.stdin.on('end', () => end.resolve()).resume();
  await end.promise;
} catch (error) {
  tell(error instanceof ExitError ? `exit${error.exitCode}` : 'crash', describeError(error));
}
process.stdin.destroy();
