import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ImageService, RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import { Introspection } from '../../../../src/agent/runtime/gen/introspection_pb.js';
import { connectRuntime } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { startFakeRuntime } from './fake-runtime.ts';

async function lab() {
  await using setup = new AsyncDisposableStack();
  const { path: root } = setup.use(await temporaryFolder());
  const fake = setup.use(await startFakeRuntime(join(root, 's')));
  const runtime = setup.use(connectRuntime({ endpoint: fake.endpoint, root, log: silentLogger() }));
  fake.on(RuntimeService.method.status, ({ verbose }) => ({
    info: verbose ? { config: '{"containerdRootDir":"/var/lib/containerd"}' } : {},
  }));
  /** containerd as the process of that number. */
  const daemon = async (pid: number, environment: string) => {
    await mkdir(join(root, `proc/${pid}/root`), { recursive: true });
    await writeFile(join(root, `proc/${pid}/environ`), environment);
    fake.on(Introspection.method.server, () => ({ pid: BigInt(pid), pidns: 0n }));
  };
  const resources = setup.move();
  return { root, fake, runtime, daemon, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

describe('where containerd writes in the course of a checkpoint', () => {
  test('is the folder of its process for such things, and its root', async () => {
    await using at = await lab();
    await at.daemon(9, 'A=b\0XDG_RUNTIME_DIR=/run/user/0\0TMPDIR=/var/tmp\0');
    assert.deepEqual(await at.runtime.dumpFolders(), [
      { name: '/run/user/0', path: join(at.root, 'proc/9/root/run/user/0'), dumps: true },
      { name: '/var/lib/containerd', path: join(at.root, 'proc/9/root/var/lib/containerd'), dumps: false },
    ]);
  });

  test('is another after it was started again', async () => {
    await using at = await lab();
    await at.daemon(9, 'TMPDIR=/var/tmp\0');
    assert.equal((await at.runtime.dumpFolders())[0]?.name, '/var/tmp');
    await at.daemon(10, '');
    assert.equal((await at.runtime.dumpFolders())[0]?.path, join(at.root, 'proc/10/root/tmp'));
  });

  test('is known in part where its process is another user’s or in another namespace', async () => {
    await using at = await lab();
    const rootOnly = [
      { name: '/var/lib/containerd', path: join(at.root, 'var/lib/containerd'), dumps: false },
    ];
    at.fake.on(Introspection.method.server, () => ({ pid: 11n, pidns: 0n }));
    assert.deepEqual(await at.runtime.dumpFolders(), rootOnly);
    await mkdir(join(at.root, 'proc/self/ns'), { recursive: true });
    await symlink('pid:[1]', join(at.root, 'proc/self/ns/pid'));
    await at.daemon(9, '');
    at.fake.on(Introspection.method.server, () => ({ pid: 9n, pidns: 2n }));
    assert.deepEqual(await at.runtime.dumpFolders(), rootOnly);
  });
});

test('another runtime writes beside its images', async () => {
  await using at = await lab();
  at.fake.on(ImageService.method.imageFsInfo, () => ({
    imageFilesystems: [{ fsId: { mountpoint: '/var/lib/containers/storage' } }],
  }));
  const folder = '/var/lib/containers/storage';
  assert.deepEqual(await at.runtime.dumpFolders(), [{ name: folder, path: folder, dumps: false }]);
});
