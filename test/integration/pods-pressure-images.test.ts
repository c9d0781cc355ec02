/** When the disk of the images is short, what nobody uses goes first: an unused image, and no pod. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TarEntry } from '../../scripts/lab/tar.ts';
import { tar } from '../../scripts/lab/tar.ts';
import { ImageService } from '../../src/agent/runtime/gen/cri_pb.js';
import { eventKind, nodeKind } from '../../src/api/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { buildImage } from './lab/registry-content.ts';
import type { PodNode } from './pods/index.ts';
import { ending, inRuntime, isRunningAndReady, sleeper, startPodNode, uidOf } from './pods/index.ts';

before(ensureBuilt);

const mebibyte = 2 ** 20;
const reference = 'localhost/lab/unused:1';

let lab: PodNode;
before(async () => {
  const config =
    'nodeStatusUpdateFrequency: 1s\nevictionHard: {imagefs.available: 1Mi}\nevictionPressureTransitionPeriod: 1h';
  lab = await startPodNode({ config, containerd: { rootMiB: 128 } });
});
after(() => lab?.[Symbol.asyncDispose]());

const images = async () => {
  const { images: found } = await lab.node.containerd.cri.call(ImageService.method.listImages, {});
  return found.flatMap(({ repoTags }) => repoTags);
};

/** As `ctr` imports it: an image layout in one tar. */
async function importImage(bytes: number): Promise<void> {
  await using folder = await temporaryFolder('image-');
  const { manifest, blobs } = await buildImage({ extraBytes: bytes });
  const { digest, mediaType } = manifest;
  const annotations = {
    'io.containerd.image.name': reference,
    'org.opencontainers.image.ref.name': '1',
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ mediaType, digest, size: manifest.bytes.length, annotations }],
  };
  const layout = join(folder.path, 'unused.tar');
  const file = (path: string, content: Buffer): TarEntry => ({
    type: 'file',
    path,
    mode: 0o644,
    bytes: content,
  });
  const parts = new Map([manifest, ...blobs].map((each) => [each.digest, each.bytes]));
  await writeFile(
    layout,
    tar([
      file('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' }))),
      file('index.json', Buffer.from(JSON.stringify(index))),
      ...[...parts].map(([name, content]) => file(`blobs/${name.replace(':', '/')}`, content)),
    ]),
  );
  await lab.node.containerd.ctr('images', 'import', layout);
  await waitFor('the image to be known', async () => (await images()).includes(reference));
}

test('an image that nobody uses goes, and what is left of a pod that has ended, and no pod is evicted', async () => {
  const pod = await lab.run('stays', { containers: [sleeper('main')] });
  await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod));
  const over = await lab.run('over', { containers: [ending(0)], restartPolicy: 'Never' });
  await lab.pods.until('its end', uidOf(over), (state) => state.pod.status?.phase === 'Succeeded');
  assert.notDeepEqual(await inRuntime(lab, uidOf(over)), []);
  await importImage(20 * mebibyte);
  // its layer and what is unpacked of it take 40 MiB of 128: less is free than this, and more once it has gone
  await lab.configure(
    'nodeStatusUpdateFrequency: 1s\nevictionHard: {imagefs.available: 100Mi}\nevictionPressureTransitionPeriod: 1h',
  );
  await waitFor('the unused image to go', async () => !(await images()).includes(reference), {
    timeoutMs: 60_000,
  });
  await waitFor('the dead container to go', async () => (await inRuntime(lab, uidOf(over))).length === 0);
  await waitFor('the pressure to be reported', async () => {
    const { status } = await lab.api.get(nodeKind, lab.name);
    return status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status === 'True';
  });
  await waitFor(
    'there to be room again',
    async () => {
      const { imageFilesystems } = await lab.node.containerd.cri.call(ImageService.method.imageFsInfo, {});
      return imageFilesystems.every(({ usedBytes }) => (usedBytes?.value ?? 0n) < BigInt(20 * mebibyte));
    },
    { timeoutMs: 60_000 },
  );
  const { items } = await lab.api.list(eventKind, { namespace: 'default' });
  assert.ok(
    items.some(
      ({ reason, message }) => reason === 'EvictionThresholdMet' && /ephemeral-storage/.test(message ?? ''),
    ),
  );
  const explained = await lab.kubectl.run(['get', 'pod', 'stays', '-o', 'jsonpath={.status.phase}']);
  assert.equal(explained.stdout, 'Running');
  assert.ok(!items.some(({ reason }) => reason === 'Evicted'));
});
