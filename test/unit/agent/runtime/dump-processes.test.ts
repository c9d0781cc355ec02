import assert from 'node:assert/strict';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { killDumpProcesses, mayBeDumped } from '../../../../src/agent/runtime/dump-processes.ts';
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

test('a container may be dumped as long as what began that runs, or a criu whose starter has gone', async () => {
  await using folder = await temporaryFolder();
  await machine(folder.path, {
    '31': [2, 'runc', 'checkpoint', 'another'],
    '32': [31, 'criu', 'swrk', '5'],
    '33': [2, 'runc', 'state', id],
    '34': [1, 'criu', 'service'],
  });
  assert.equal(await mayBeDumped(id, folder.path), false);
  assert.equal(await mayBeDumped('another', folder.path), true);
  await using orphaned = await temporaryFolder();
  await machine(orphaned.path, { '40': [1, '/usr/sbin/criu', 'swrk', '5'] });
  assert.equal(await mayBeDumped(id, orphaned.path), true);
  await using restored = await temporaryFolder();
  await machine(restored.path, { '40': [1, 'runc', 'restore', 'c1'], '41': [40, 'criu', 'swrk', '5'] });
  assert.equal(await mayBeDumped(id, restored.path), false);
});

test('a process in a container that calls itself criu is none', async () => {
  await using folder = await temporaryFolder();
  await machine(folder.path, {
    '1': [0, 'init'],
    '40': [1, 'criu', 'swrk', '5'],
    '41': [1, 'runc', 'checkpoint', id],
  });
  const inNamespace = async (pid: number, namespace: number) => {
    await mkdir(join(folder.path, 'proc', String(pid), 'ns'));
    await symlink(`pid:[${namespace}]`, join(folder.path, 'proc', String(pid), 'ns/pid'));
  };
  await inNamespace(1, 1);
  await inNamespace(40, 2);
  await inNamespace(41, 2);
  assert.equal(await mayBeDumped(id, folder.path), false);
  await rm(join(folder.path, 'proc/40/ns'), { recursive: true });
  await inNamespace(40, 1);
  assert.equal(await mayBeDumped(id, folder.path), true);
});
