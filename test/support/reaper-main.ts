/** Waits for the end of the process that started it, and removes what remains of its run, which the argument names. */
import { once } from 'node:events';
import { removeRemains } from './ended-runs.ts';
import { isRunning, parseRun } from './test-run.ts';
import { waitFor } from './wait-for.ts';

const run = parseRun(process.argv[2] ?? '');
if (run === undefined) throw new Error('the argument must name a run of tests');
process.stdin.resume();
await once(process.stdin, 'end').catch(() => undefined);
// its pipe is closed a moment before it has gone
const gone = async (): Promise<boolean> => !(await isRunning(run));
await waitFor('the end of the run', gone).catch(() => undefined);
await removeRemains(run);
