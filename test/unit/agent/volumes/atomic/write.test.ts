import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readlink, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { writeFiles } from '../../../../../src/agent/volumes/atomic/write.ts';
import { runCommand } from '../../../../support/index.ts';
import { failingAt } from './failing-folder.ts';
import { layoutOf, nowMs, payloadOf, seenIn, volumeFolder } from './support.ts';

const plain = { nowMs, group: undefined };
const asRoot = { skip: process.geteuid?.() === 0 ? false : 'giving files away needs root' };

describe('the files of a volume', () => {
  test('lie behind links, as in the reference', async () => {
    await using made = await volumeFolder();
    const texts = { 'app.conf': 'a', 'tls/key': 'k', 'tls/deep/er': 'd', empty: '' };
    const written = await writeFiles(made.folder, payloadOf(texts), plain);
    assert.deepEqual(written, { isChanged: true, sinceMs: nowMs });
    assert.deepEqual(await layoutOf(made.path), [
      '..N_N_N_N_N_N.N 755 0',
      '..data → ..N_N_N_N_N_N.N',
      'app.conf → ..data/app.conf',
      'empty → ..data/empty',
      'tls → ..data/tls',
    ]);
    assert.deepEqual(await seenIn(made.path), texts);
    assert.match(await readlink(join(made.path, '..data')), /^\.\.2026_01_02_15_04_05\.\d{10}$/);
  });

  test('are not written again where they are the same, and say since when they are there', async () => {
    await using made = await volumeFolder();
    const payload = payloadOf({ a: '1', 'b/c': '2' });
    await writeFiles(made.folder, payload, plain);
    const before = await readdir(made.path);
    const again = await writeFiles(made.folder, payload, { ...plain, nowMs: nowMs + 60_000 });
    assert.deepEqual(again, { isChanged: false, sinceMs: nowMs });
    assert.deepEqual(await readdir(made.path), before);
  });

  test('change all at once; links of those that are gone are removed', async () => {
    await using made = await volumeFolder();
    await writeFiles(made.folder, payloadOf({ a: '1', 'b/c': '2', d: '3' }), plain);
    const held = await readlink(join(made.path, '..data'));
    const written = await writeFiles(made.folder, payloadOf({ a: '4', e: '5' }), plain);
    assert.equal(written.isChanged, true);
    assert.deepEqual(await seenIn(made.path), { a: '4', e: '5' });
    assert.deepEqual((await readdir(made.path)).filter((name) => !name.startsWith('..')).sort(), ['a', 'e']);
    await assert.rejects(lstat(join(made.path, held)), { code: 'ENOENT' });
    await writeFiles(made.folder, new Map(), plain);
    assert.deepEqual(await layoutOf(made.path), ['..N_N_N_N_N_N.N 755 0', '..data → ..N_N_N_N_N_N.N']);
  });

  test('have the modes, owner and group that they should have, before they are seen', asRoot, async () => {
    await using made = await volumeFolder();
    const payload = new Map([
      ['token', { bytes: Buffer.from('t'), mode: 0o600, uid: 1234 }],
      ['b/c', { bytes: Buffer.from('c'), mode: 0o400 }],
    ]);
    await writeFiles(made.folder, payload, { nowMs, group: 77 });
    const token = await stat(join(made.path, 'token'));
    assert.deepEqual([token.mode & 0o7777, token.uid, token.gid], [0o640, 1234, 77]);
    const inner = await stat(join(made.path, 'b'));
    assert.deepEqual([inner.mode & 0o7777, inner.uid, inner.gid], [0o2755, 0, 77]);
    const file = await stat(join(made.path, 'b/c'));
    assert.deepEqual([file.mode & 0o7777, file.uid, file.gid], [0o440, 0, 77]);
    assert.equal((await writeFiles(made.folder, payload, { nowMs, group: 77 })).isChanged, false);
    assert.equal((await writeFiles(made.folder, payload, { nowMs, group: 78 })).isChanged, true);
    assert.equal((await stat(join(made.path, 'b/c'))).gid, 78);
  });

  test('are seen whole by who reads while they change', async () => {
    await using made = await volumeFolder();
    const texts = (round: number) => ({ a: `${round}`, 'b/c': `${round}` });
    await writeFiles(made.folder, payloadOf(texts(0)), plain);
    let isDone = false;
    const reading = (async () => {
      while (!isDone) {
        // as readers do: one look at where `..data` leads, then all files there
        const data = await readlink(join(made.path, '..data'));
        const seen = await seenIn(join(made.path, data)).catch(() => undefined);
        const values = new Set(Object.values(seen ?? {}));
        const isRemoved = (await lstat(join(made.path, data)).catch(() => undefined)) === undefined;
        if (!isRemoved && Object.keys(seen ?? {}).length === 2) assert.equal(values.size, 1);
      }
    })();
    for (let round = 1; round <= 50; round++) await writeFiles(made.folder, payloadOf(texts(round)), plain);
    isDone = true;
    await reading;
    assert.deepEqual(await seenIn(made.path), { a: '50', 'b/c': '50' });
  });
});

describe('what others did in a volume is set right', () => {
  const texts = { a: '1', 'b/c': '2' };
  const deeds: Record<string, (path: string, data: string) => Promise<unknown>> = {
    'a link removed': (path) => unlink(join(path, 'a')),
    'a link led elsewhere': async (path) => {
      await unlink(join(path, 'a'));
      await symlink('/etc/passwd', join(path, 'a'));
    },
    'a folder in place of a link': async (path) => {
      await unlink(join(path, 'a'));
      await mkdir(join(path, 'a/deep/er'), { recursive: true });
    },
    'a file changed': (path, data) => writeFile(join(path, data, 'a'), 'x'),
    'a file removed': (path, data) => unlink(join(path, data, 'a')),
    'a file added': (path, data) => writeFile(join(path, data, 'b/more'), ''),
    'a mode changed': (path, data) => runCommand('chmod', ['777', join(path, data, 'a')]),
    'a pipe in place of a file': async (path, data) => {
      await unlink(join(path, data, 'a'));
      await runCommand('mkfifo', ['-m', '644', join(path, data, 'a')]);
    },
    'a link in place of a file': async (path, data) => {
      await unlink(join(path, data, 'a'));
      await symlink('/etc/passwd', join(path, data, 'a'));
    },
    'a link in place of a folder': async (path, data) => {
      await rm(join(path, data, 'b'), { recursive: true });
      await symlink('/etc', join(path, data, 'b'));
    },
    'a file in place of a folder': async (path, data) => {
      await rm(join(path, data, 'b'), { recursive: true });
      await writeFile(join(path, data, 'b'), '');
    },
    '..data led elsewhere': async (path) => {
      await unlink(join(path, '..data'));
      await symlink('/etc', join(path, '..data'));
    },
    '..data led to nothing': async (path) => {
      await unlink(join(path, '..data'));
      await symlink('..2026_01_01_00_00_00.1', join(path, '..data'));
    },
    'a folder in place of ..data': async (path) => {
      await unlink(join(path, '..data'));
      await mkdir(join(path, '..data/x'), { recursive: true });
    },
    'a folder in place of ..data_tmp': (path) => mkdir(join(path, '..data_tmp/x'), { recursive: true }),
    'a folder of an earlier write left': (path) =>
      mkdir(join(path, '..2020_01_01_00_00_00.12345/x'), { recursive: true }),
  };
  for (const [what, deed] of Object.entries(deeds))
    test(what, async () => {
      await using made = await volumeFolder();
      await writeFiles(made.folder, payloadOf(texts), plain);
      const before = await layoutOf(made.path);
      await deed(made.path, await readlink(join(made.path, '..data')));
      await writeFiles(made.folder, payloadOf(texts), plain);
      assert.deepEqual(await seenIn(made.path), texts);
      assert.deepEqual(await layoutOf(made.path), before);
    });

  test('what is not the writer’s stays', async () => {
    await using made = await volumeFolder();
    await writeFile(join(made.path, 'own'), 'x');
    await symlink('..data/other', join(made.path, 'own-link'));
    await writeFiles(made.folder, payloadOf(texts), plain);
    await writeFiles(made.folder, payloadOf({}), plain);
    assert.deepEqual((await readdir(made.path)).filter((name) => !name.startsWith('..')).sort(), [
      'own',
      'own-link',
    ]);
  });
});

describe('a writer that is cut off', () => {
  const old = { a: '1', 'b/c': '2', gone: 'g' };
  const next = { a: '3', 'b/c': '4', 'b/d': '5', more: '6' };

  test('at any step leaves the old files or the new ones, and the next one sets the rest right', async () => {
    let isWhole = false;
    for (let step = 0; !isWhole; step++) {
      await using made = await volumeFolder();
      await writeFiles(made.folder, payloadOf(old), plain);
      const failing = failingAt(made.folder, step);
      await writeFiles(failing.folder, payloadOf(next), plain).then(
        () => {
          isWhole = true;
        },
        () => undefined,
      );
      const data = await readlink(join(made.path, '..data'));
      const shown = JSON.stringify(await seenIn(join(made.path, data)));
      assert.ok(
        [old, next].some((each) => JSON.stringify(each) === shown),
        `step ${step}: ${shown}`,
      );
      await writeFiles(made.folder, payloadOf(next), plain);
      assert.deepEqual(await seenIn(made.path), next, `step ${step}`);
      assert.deepEqual(await layoutOf(made.path), [
        '..N_N_N_N_N_N.N 755 0',
        '..data → ..N_N_N_N_N_N.N',
        'a → ..data/a',
        'b → ..data/b',
        'more → ..data/more',
      ]);
      assert.ok(step < 200, 'it never ended');
    }
  });

  test('by a disk that is full says so, and leaves nothing behind', async () => {
    await using made = await volumeFolder();
    await writeFiles(made.folder, payloadOf(old), plain);
    const before = await layoutOf(made.path);
    const full = failingAt(made.folder, 0, { only: 'writeFile', code: 'ENOSPC' });
    await assert.rejects(writeFiles(full.folder, payloadOf(next), plain), {
      message:
        'its files cannot be written, and stay as they were: no space is left for them on the disk or in the memory of the node (ENOSPC)',
    });
    assert.deepEqual(await seenIn(made.path), old);
    assert.deepEqual(await layoutOf(made.path), before);
  });
});
