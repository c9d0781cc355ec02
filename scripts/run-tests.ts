/**
 * Runs checks and tests. The last line of its output is `N passed, N failed, N skipped`. Ends with 0 when
 * all is well, with 10 when something failed (or nothing ran, or, with CI=true, something was skipped), with
 * 2 when it was called wrongly, and with anything else when the runner itself broke.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commitDurations } from './testing/durations.ts';
import { exitCodes, partNames, runParts } from './testing/run.ts';

const usage = `usage: node scripts/run-tests.ts [--root DIR] [--timeout SECONDS] ${partNames.join('|')} …
  --root DIR          another folder with the repository's layout
  --timeout SECONDS   for one test, and for a test file as a whole
  --parallel N        at most so many processes of test files at once; default by level and number of cores
  --write-durations   afterwards makes the times of the files that passed scripts/testing/durations.json, by which
                      a checkout that has run no tests yet begins with the longest files
`;

/** A day: a timer that is set to more than 24 of them goes off at once. */
const maxSeconds = 86_400;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      root: { type: 'string' },
      timeout: { type: 'string' },
      parallel: { type: 'string' },
      'write-durations': { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const unknown = positionals.filter((name) => !partNames.includes(name));
  const seconds = values.timeout === undefined ? undefined : Number(values.timeout);
  if (unknown.length > 0) throw new TypeError(`unknown: ${unknown.join(' ')}`);
  if (positionals.length === 0) throw new TypeError('nothing to run');
  if (seconds !== undefined && !(seconds > 0 && seconds <= maxSeconds))
    throw new TypeError(`not a time: ${values.timeout}`);
  const timeoutMs = seconds === undefined ? undefined : seconds * 1000;
  const parallel = values.parallel === undefined ? undefined : Number(values.parallel);
  if (parallel !== undefined && !(Number.isInteger(parallel) && parallel > 0))
    throw new TypeError(`not a number of processes: ${values.parallel}`);
  const root = resolve(values.root ?? join(import.meta.dirname, '..'));
  const code = await runParts(positionals, { root, timeoutMs, parallel });
  if (values['write-durations']) await commitDurations(root);
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n${usage}`);
  process.exitCode = exitCodes.usage;
}
