import assert from 'node:assert/strict';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runSuccessfully } from '../../support/index.ts';
import type { VolumeLab } from './support.ts';
import { podWith, untilFailed, untilReady, volumeLab } from './support.ts';

describe('paths of the node, as programs of the system see them', () => {
  let lab: VolumeLab;
  let umask: number;
  const path = (name: string) => join(lab.rootDir, name);
  const modeOf = async (name: string) => (await stat(path(name))).mode & 0o7777;
  const podFor = (name: string, type: string) => {
    const pod = podWith([{ name: 'v', hostPath: { path: name.startsWith('/') ? name : path(name), type } }]);
    return { ...pod, metadata: { ...pod.metadata, uid: `${type}-${name.replaceAll('/', '-')}` } };
  };
  const succeeds = (name: string, type: string) => untilReady(lab.volumes, podFor(name, type));
  const fails = async (name: string, type: string) =>
    (await untilFailed(lab.volumes, podFor(name, type))).message;

  before(async () => {
    umask = process.umask(0o077);
    lab = await volumeLab();
    await mkdir(path('folder'));
    await writeFile(path('file'), 'text');
    await runSuccessfully('mkfifo', [path('fifo')]);
    await symlink('folder', path('link'));
    await symlink('nowhere', path('dangling'));
    await symlink('loop', path('loop'));
  });
  after(async () => {
    process.umask(umask);
    await lab[Symbol.asyncDispose]();
  });

  test('what is there has the type that is wanted, links followed', async () => {
    await using server = createServer();
    await new Promise<void>((resolve) => server.listen(path('socket'), resolve));
    for (const [name, type] of [
      ['folder', 'Directory'],
      ['link', 'Directory'],
      ['link', 'DirectoryOrCreate'],
      ['file', 'File'],
      ['file', 'FileOrCreate'],
      ['socket', 'Socket'],
      ['/dev/null', 'CharDevice'],
    ] as const)
      await succeeds(name, type);
    assert.equal(await readFile(path('file'), 'utf8'), 'text');
  });

  test('folders are made with mode 0755, files with 0644, whatever the mask of the agent', async () => {
    await succeeds("new/a b/it's", 'DirectoryOrCreate');
    assert.deepEqual(
      [await modeOf('new'), await modeOf('new/a b'), await modeOf("new/a b/it's")],
      [0o755, 0o755, 0o755],
    );
    await succeeds('folder/-n', 'FileOrCreate');
    assert.equal(await modeOf('folder/-n'), 0o644);
  });

  test('what is not there, or something else', async () => {
    assert.match(
      await fails('none', 'Directory'),
      /: hostPath type check failed: .*\/none is not a directory$/,
    );
    assert.match(await fails('dangling', 'File'), /\/dangling is not a file$/);
    assert.match(await fails('fifo', 'File'), /\/fifo is not a file$/);
    assert.match(await fails('fifo', 'FileOrCreate'), /\/fifo is not a file$/);
    assert.match(await fails('file', 'DirectoryOrCreate'), /\/file is not a directory$/);
    assert.match(await fails('none/deep', 'FileOrCreate'), /: hostPath .*\/none\/deep cannot be made: /);
    assert.match(await fails('dangling', 'FileOrCreate'), /\/dangling cannot be made: /);
    assert.match(
      await fails('loop', 'Directory'),
      /: hostPath .*\/loop cannot be looked at: .*symbolic links/,
    );
    assert.match(
      await fails('file/below', 'DirectoryOrCreate'),
      /: hostPath .*\/file\/below cannot be looked at: /,
    );
  });
});
