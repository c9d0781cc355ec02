import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readVolumeFile } from '../../../../src/agent/volumes/read-file.ts';
import { describeError } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

test('a file of a volume is read, and nothing outside of it', async () => {
  await using folder = await temporaryFolder('volume-');
  const base = join(folder.path, 'volume');
  await mkdir(join(base, 'deep'), { recursive: true });
  await writeFile(join(folder.path, 'outside'), 'secret');
  await writeFile(join(base, 'deep/file'), 'grün');
  await writeFile(join(base, 'bytes'), new Uint8Array([0xff]));
  await writeFile(join(base, 'large'), 'x'.repeat(1024 * 1024 + 1));
  await symlink('deep/file', join(base, 'inside'));
  await symlink('../outside', join(base, 'up'));
  await symlink(join(folder.path, 'outside'), join(base, 'absolute'));
  execFileSync('mkfifo', [join(base, 'pipe')]);

  assert.equal(await readVolumeFile(base, 'deep/file'), 'grün');
  assert.equal(await readVolumeFile(base, 'inside'), 'grün');
  const refused: [path: string, message: RegExp][] = [
    ['gone', /^there is no such file$/],
    ['gone/file', /^there is no such file$/],
    ['../outside', /leads out of the volume/],
    ['up', /leads out of the volume/],
    ['absolute', /leads out of the volume/],
    ['pipe', /^it is no regular file$/],
    ['deep', /^it is no regular file$/],
    ['bytes', /^it is no text in UTF-8$/],
    ['large', /^it is longer than 1048576 bytes$/],
  ];
  for (const [path, message] of refused)
    await assert.rejects(readVolumeFile(base, path), (error) => {
      assert.match(describeError(error), message, path);
      return true;
    });
  await assert.rejects(readVolumeFile(base, 'gone'), 'nothing was made');
});
