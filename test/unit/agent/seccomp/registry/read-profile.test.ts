import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createProfileFinder } from '../../../../../src/agent/seccomp/registry/index.ts';
import { readProfile } from '../../../../../src/agent/seccomp/registry/read-profile.ts';
import { temporaryFolder } from '../../../../support/index.ts';

/** Lets the threads that read go on for a little, each time at another place. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

test('a folder that is exchanged for a link while a profile is read never shows what lies outside', async () => {
  await using home = await temporaryFolder('read-profile-');
  const at = (path: string) => join(home.path, path);
  await mkdir(at('seccomp/sub'), { recursive: true });
  await mkdir(at('outside'));
  await writeFile(at('seccomp/sub/a.json'), 'inside');
  await writeFile(at('outside/a.json'), 'outside');
  await symlink('../outside', at('seccomp/link'));

  let isOver = false;
  const exchange = async () => {
    while (!isOver) {
      renameSync(at('seccomp/sub'), at('seccomp/aside'));
      renameSync(at('seccomp/link'), at('seccomp/sub'));
      await turns(2);
      renameSync(at('seccomp/sub'), at('seccomp/link'));
      renameSync(at('seccomp/aside'), at('seccomp/sub'));
      await turns(5);
    }
  };
  const exchanging = exchange();
  const seen = new Set<string>();
  for (let turn = 0; turn < 200; turn += 1) {
    const reads = Array.from({ length: 10 }, () => readProfile(at('seccomp'), 'sub/a.json', 1000));
    for (const found of await Promise.all(reads)) {
      seen.add(found.kind === 'found' ? Buffer.from(found.bytes).toString() : found.kind);
    }
  }
  isOver = true;
  await exchanging;
  assert.ok(!seen.has('outside'), [...seen].join());
  assert.ok(seen.has('inside'), [...seen].join());
});

test('a folder whose name only begins with the name of this one is outside', async () => {
  await using home = await temporaryFolder('read-profile-');
  for (const name of ['seccomp', 'seccomp-other']) await mkdir(join(home.path, name));
  await writeFile(join(home.path, 'seccomp-other/a.json'), '{}');
  await symlink('../seccomp-other/a.json', join(home.path, 'seccomp/a.json'));
  const found = await readProfile(join(home.path, 'seccomp'), 'a.json', 100);
  assert.equal(found.kind, 'refused');
});

test('a container that is to be made gets the file as it is now, by its path without links', async () => {
  await using home = await temporaryFolder('read-profile-');
  const judge = (bytes: Uint8Array) => ({ digest: `sha256:${bytes.length}`, errors: [], warnings: [] });
  const find = createProfileFinder({ folder: home.path, judge, limitBytes: 100 });
  await writeFile(join(home.path, 'real'), '{}');
  await symlink('real', join(home.path, 'a.json'));

  const found = await find('./a.json');
  assert.ok(found.kind === 'found');
  assert.equal(found.path, join(home.path, 'real'));
  assert.equal(found.judgement.digest, 'sha256:2');
  assert.deepEqual(await find('none.json'), { kind: 'missing' });
  assert.equal((await find('../outside')).kind, 'refused');
  assert.equal((await find('/etc/passwd')).kind, 'refused');
  assert.deepEqual(await find('real/below'), { kind: 'missing' });
  assert.equal((await find('x'.repeat(300))).kind, 'refused');
});
