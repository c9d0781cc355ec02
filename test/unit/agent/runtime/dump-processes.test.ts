import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { killDumpProcesses } from '../../../../src/agent/runtime/dump-processes.ts';
import { temporaryFolder } from '../../../support/index.ts';

const id = 'c0ffee';

/** A machine with these processes, by pid: its parent, and its words. */
async function machine(root: string, processes: Readonly<Record<string, [number, ...string[]]>>) {
  await mkdir(join(root, 'proc', 'sys'), { recursive: true });
  await mkdir(join(root, 'proc', '99')); // one that is gone in the middle
  for (const [pid, [parent, ...argv]] of Object.entries(processes)) {
    await mkdir(join(root, 'proc', pid));
    await writeFile(join(root, 'proc', pid, 'stat'), `${pid} (a) S 7) S ${parent} 1 1\n`);
    await writeFile(join(root, 'proc', pid, 'cmdline'), argv.map((each) => `${each}\0`).join(''));
  }
}

test('a dump is killed with all that it has started, and nothing else', async () => {
  await using folder = await temporaryFolder();
  await machine(folder.path, {
    '2': [1, 'containerd-shim', '-id', 'sandbox'],
    '40': [30, 'criu', 'swrk', '5'],
    '30': [2, 'runc', '--root', '/run', 'checkpoint', '--image-path', '/x', id],
    '41': [40, 'ip6tables-restore'],
    '31': [2, 'runc', 'checkpoint', 'another'],
    '32': [31, 'criu', 'swrk', '5'],
    '33': [2, 'runc', 'state', id],
    '34': [1, 'sh', '-c', `runc checkpoint ${id}`],
  });
  const killed: number[] = [];
  assert.equal(await killDumpProcesses(id, folder.path, (pid) => killed.push(pid)), 3);
  assert.deepEqual(killed.toSorted(), [30, 40, 41]);
  assert.equal(await killDumpProcesses('none', folder.path, (pid) => killed.push(pid)), 0);
  assert.equal(killed.length, 3);
});
