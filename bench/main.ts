/**
 * All benchmarks of the control plane, one after the other: `npm run bench [-- quick]`. Nothing of it runs in CI: a
 * shared machine measures its neighbours. What came out, and on which machine, is in docs/benchmarks.md.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { printRow } from './report.ts';

const scripts = [
  'commits.ts',
  'testing-start.ts',
  'apiserver/main.ts',
  'apiserver/leases.ts',
  'apiserver/watchers.ts',
  'authorization.ts',
  'access.ts',
];

await buildUnlessBuilt();
const processors = cpus();
printRow([
  `${processors.length} × ${processors[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}`,
]);
for (const script of scripts) {
  process.stdout.write('\n');
  const args = [join(import.meta.dirname, script), 'built', ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
