import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ImageService, RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import { connectRuntime } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import type { FakeRuntime } from './fake-runtime.ts';
import { never, startFakeRuntime } from './fake-runtime.ts';

const { listImages, imageFsInfo } = ImageService.method;
const quick = { log: silentLogger(), statusIntervalMs: 20, statusTimeoutMs: 100, imageIntervalMs: 20 };

const image = (name: string, size: number) => ({
  repoTags: [`${name}:1`],
  repoDigests: [`${name}@sha256:abc`],
  size: BigInt(size),
});

function holdsImages(fake: FakeRuntime): void {
  fake.on(listImages, () => ({ images: [image('small', 5), image('large', 50)] }));
  fake.on(imageFsInfo, () => ({ imageFilesystems: [{ fsId: { mountpoint: '/var/lib/images' } }] }));
}

describe('images of the node', () => {
  test('are known soon after the runtime is ready, the largest first, with where they are', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    holdsImages(fake);
    await using runtime = connectRuntime({ ...quick, imageIntervalMs: 3600_000, endpoint: fake.endpoint });
    let changes = 0;
    using _changes = runtime.onImagesChange(() => void changes++);
    assert.deepEqual(runtime.images(), { images: undefined, imageDir: undefined, containerDir: undefined });
    await waitFor('the images', () => runtime.images().images !== undefined);
    assert.deepEqual(runtime.images(), {
      images: [
        { names: ['large@sha256:abc', 'large:1'], sizeBytes: 50 },
        { names: ['small@sha256:abc', 'small:1'], sizeBytes: 5 },
      ],
      imageDir: '/var/lib/images',
      containerDir: undefined,
    });
    assert.equal(changes, 1);
  });

  test('stay as they were while the runtime hangs, which holds nobody up and is told once', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    holdsImages(fake);
    const { log, text } = recordedLog();
    await using runtime = connectRuntime({ ...quick, log, endpoint: fake.endpoint });
    await waitFor('the images', () => runtime.images().images !== undefined);
    fake.on(listImages, never);
    fake.on(imageFsInfo, never);
    await waitFor('the warning', () => text().includes('cannot look at the images'));
    const asked = fake.calls.length;
    await waitFor('further questions', () => fake.calls.length > asked + 20);
    assert.equal(text().match(/cannot look at the images/g)?.length, 1);
    assert.equal(runtime.images().images?.length, 2);
  });

  test('may come from a service of their own', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    await using store = await startFakeRuntime(join(folder.path, 'i'));
    holdsImages(store);
    await using runtime = connectRuntime({
      ...quick,
      endpoint: fake.endpoint,
      imageEndpoint: store.endpoint,
    });
    await waitFor('the images', () => runtime.images().images?.length === 2);
    assert.ok(!fake.calls.includes('ListImages'));
  });

  test('what the runtime can do is part of its status', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true }));
    fake.on(RuntimeService.method.status, () => ({
      status: { conditions },
      runtimeHandlers: [{ name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
      features: { supplementalGroupsPolicy: true },
    }));
    await using runtime = connectRuntime({ ...quick, endpoint: fake.endpoint });
    await waitFor('the runtime to be ready', () => runtime.status().ready);
    const { handlers, supplementalGroupsPolicy } = runtime.status();
    assert.deepEqual(handlers, [{ name: 'runc', recursiveReadOnlyMounts: true, userNamespaces: false }]);
    assert.equal(supplementalGroupsPolicy, true);
  });
});
