/**
 * Node.js keeps what it compiled of each module in a folder, which spares test processes about a third of their work. A
 * folder that cannot be written or read, such as for another user, is no error: Node.js then compiles as without it.
 */
import { join } from 'node:path';
import type { TestFileOptions } from './guarded-run.ts';
import type { Level } from './levels.ts';

const variable = 'NODE_COMPILE_CACHE';
const lowPriority = join(import.meta.dirname, 'low-priority.ts');

/**
 * How the processes of tests are started. A test that starts the built program measures it as users start it: there the
 * variable has gone from the test's environment before it runs, and so nothing that it starts has the cache. `isInGaps`: they
 * compute when nobody else does.
 */
export function testEnvironment(
  root: string,
  level: Level,
  isInGaps: boolean,
): Pick<TestFileOptions, 'env' | 'execArgv'> {
  const folder = process.env[variable] ?? join(root, '.cache/compile');
  const forget = `data:text/javascript,delete process.env.${variable}`;
  const loaded = [...(level.startsBuiltProgram ? [forget] : []), ...(isInGaps ? [lowPriority] : [])];
  return { env: { [variable]: folder }, execArgv: loaded.flatMap((module) => ['--import', module]) };
}
