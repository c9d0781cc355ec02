/**
 * How long a test waits for its server: `node bench/testing-start.ts [built]`. In processes of their own, each new, the
 * import of `nodeward/testing`, the first server and, the median of twenty, one more; of several processes the median.
 * CPU is that of the process, all threads.
 */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { printRow, verdict } from './report.ts';

const processes = 9;
const dist = process.env['NODEWARD_DIST'] ?? resolve(import.meta.dirname, '../dist');

/** Milliseconds. */
interface Start {
  readonly importMs: number;
  readonly firstMs: number;
  readonly firstCpuMs: number;
  readonly nextMs: number;
}

async function main(): Promise<void> {
  await buildUnlessBuilt();
  const starts: Start[] = [];
  for (let count = 0; count < processes; count++) {
    const script = join(import.meta.dirname, 'testing-start-once.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [script, join(dist, 'testing.js')]);
    starts.push(JSON.parse(stdout));
  }
  const show = (what: string, of: (start: Start) => number, targetMs?: number) => {
    const sorted = starts.map(of).sort((one, other) => one - other);
    const [least = 0, median = 0] = [sorted[0], sorted[Math.floor(processes / 2)]];
    const judged = targetMs === undefined ? [] : verdict(median, targetMs, 'ms');
    printRow([what, `${median.toFixed(0)} ms`, `least ${least.toFixed(0)} ms`, ...judged]);
  };
  show('import of nodeward/testing', ({ importMs }) => importMs);
  show('the first server of a process', ({ firstMs }) => firstMs, 100);
  show('its CPU', ({ firstCpuMs }) => firstCpuMs);
  show('one more server', ({ nextMs }) => nextMs, 100);
}

await main();
