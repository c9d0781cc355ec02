/** What is made of real checkpoints: inspected, compared, made an image of, and restored by containerd. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { ArchiveContents } from '../../src/agent/checkpoint/archive/index.ts';
import { ArchiveError, createArchiveReader } from '../../src/agent/checkpoint/archive/index.ts';
import { ImageService } from '../../src/agent/runtime/gen/cri_pb.js';
import { isRecord } from '../../src/api/index.ts';
import { exitCodes } from '../../src/base/index.ts';
import { freePort, waitFor } from '../support/index.ts';
import { chooseSeed } from '../support/repetition.ts';
import type { Registry } from './checkpoint/registry.ts';
import { serveImage } from './checkpoint/registry.ts';
import type { Site } from './checkpoint/site.ts';
import { openSite } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import type { LabContainer, Pod } from './lab/index.ts';
import { fetched } from './lab/index.ts';
import { nodeward } from './nodeward/index.ts';

before(ensureBuilt);

/** How long the container waits between two counts. */
const countMs = 100;

describe('real checkpoints', () => {
  let site: Site;
  let registry: Registry;
  let pod: Pod;
  let container: LabContainer;
  let port: number;
  const archives: string[] = [];

  before(async () => {
    site = await openSite();
    registry = await serveImage(fetched('image/busybox.tar'));
    const { runtime } = site;
    await runtime.ctr('images', 'pull', '--plain-http', registry.image);
    await runtime.ctr('images', 'tag', registry.image, registry.pinned);
    await untilKnown(registry.pinned);
    port = await freePort();
    pod = await runtime.startPod({ name: 'counter' });
    const count = `n=0; while :; do n=$((n+1)); echo $n > /data/next; mv /data/next /data/count; sleep ${countMs / 1000}; done`;
    const script = `nc -ll -p ${port} -e /bin/true & ${count}`;
    container = await pod.startContainer({
      image: registry.image,
      workload: { command: ['/bin/sh', '-c', script] },
      env: { TOKEN: 'quite secret' },
    });
    await container.countsOn();
    await waitFor('the container to listen', async () => {
      const sockets = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
      return sockets.join('').includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `);
    });
  });
  after(async () => {
    await registry?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  });

  /** CRI hears of images later. */
  async function untilKnown(name: string): Promise<void> {
    await waitFor(`CRI to know ${name}`, async () => {
      const { images } = await site.runtime.cri.call(ImageService.method.listImages, {});
      return images.some(({ repoTags, repoDigests }) => [...repoTags, ...repoDigests].includes(name));
    });
  }

  async function checkpointOf(name: string): Promise<string> {
    const made = await nodeward(['checkpoint', `default/${name}/main`, '--root-dir', site.rootDir]);
    assert.equal(made.code, 0, made.stderr);
    return made.stdout.trim();
  }

  async function inspected(path: string): Promise<ArchiveContents> {
    const { code, stdout, stderr } = await nodeward(['checkpoint', 'inspect', path, '-o', 'json']);
    assert.equal(code, 0, stderr);
    const answer: unknown = JSON.parse(stdout);
    assert.ok(isContents(answer), stdout);
    return answer;
  }

  test('tell what the container was doing', async () => {
    archives.push(await checkpointOf('counter'));
    const {
      processes,
      container: of,
      environment,
      changedFiles,
      criu,
      mounts,
      notes,
    } = await inspected(archives[0] ?? '');
    assert.deepEqual(notes, []);
    assert.deepEqual([of.namespace, of.pod, of.name, of.id], ['default', 'counter', 'main', container.id]);
    assert.equal(of.imageRef, registry.pinned);
    assert.match(criu.version, /^\d+\.\d+/);
    const [shell, ...others] = processes;
    assert.deepEqual([shell?.pid, shell?.comm, shell?.state], [1, 'sh', 'alive']);
    assert.ok((shell?.memory.privateBytes ?? 0) > 0);
    const sockets = others.flatMap(({ files }) => files).filter(({ kind }) => kind === 'tcp');
    assert.ok(
      sockets.some(({ state, local = '' }) => state === 'LISTEN' && local.endsWith(`:${port}`)),
      JSON.stringify(sockets),
    );
    assert.ok(environment.some(({ name }) => name === 'TOKEN'));
    assert.ok(changedFiles.largest.some(({ path }) => path === '/data/count'));
    assert.ok(mounts.some(({ mountpoint }) => mountpoint === '/proc'));
  });

  test('tell by their ids, and to people, without what is secret', async () => {
    const id = (archives[0] ?? '').replace(/^.*\/|\.tar$/g, '');
    const { code, stdout, stderr } = await nodeward([
      'checkpoint',
      'inspect',
      id,
      '--root-dir',
      site.rootDir,
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^runtime +io\.containerd\.runc\.v2, containerd 2\.1/m);
    assert.doesNotMatch(stdout, /quite secret/);
  });

  test('tell what changed from one to the next', async () => {
    await container.countsOn();
    archives.push(await checkpointOf('counter'));
    const [old = '', now = ''] = archives;
    const changed = await nodeward(['checkpoint', 'diff', old, now]);
    assert.equal(changed.code, exitCodes.failed, changed.stderr);
    assert.doesNotMatch(changed.stdout, /different containers|variable|mount/);
    const same = await nodeward(['checkpoint', 'diff', now, now]);
    assert.deepEqual([same.code, same.stdout], [0, 'nothing changed\n']);
  });

  test('with some bits turned around are answered or refused', async () => {
    const bytes = await readFile(archives[0] ?? '');
    const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(7)), { minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(flips, async (turned) => {
        const spoilt = Buffer.from(bytes);
        for (const [at, bit] of turned) spoilt[at] = (spoilt[at] ?? 0) ^ (1 << bit);
        const reader = await createArchiveReader({ what: 'it' });
        const read = async () => {
          await reader.push(spoilt);
          await reader.end();
        };
        await read().catch((error: unknown) => assert.ok(error instanceof ArchiveError, String(error)));
      }),
      { numRuns: 150, seed: chooseSeed() },
    );
  });

  test('become images from which containerd restores the container, and it counts on', async () => {
    const layout = join(site.rootDir, 'layout.tar');
    // so far that one which begins anew could not be there in time
    await waitFor('a high count', async () => (await container.count()) > 60);
    const before = await container.count();
    const last = await checkpointOf('counter');
    const made = await nodeward([
      'checkpoint',
      'image',
      last,
      '--output-file',
      layout,
      '--name',
      'localhost/restored:1',
    ]);
    assert.equal(made.code, 0, made.stderr);
    const counted = await container.count();
    await pod.remove();
    await site.runtime.ctr('images', 'import', layout);
    await untilKnown('localhost/restored:1');

    const again = await site.runtime.startPod({ name: 'counter' });
    const startedMs = performance.now();
    const restored = await again.startContainer({ image: 'localhost/restored:1' });
    const first = Number((await restored.exec('cat', '/data/count')).stdout);
    const since = Math.ceil((performance.now() - startedMs) / countMs) + 1;
    assert.ok(first >= before && first <= counted + since, `${first}, of ${before} to ${counted} + ${since}`);
    await restored.countsOn();
    const { annotations } = await restored.status();
    assert.equal(annotations['restored'], 'true');
    await again.remove();
  });
});

function isContents(value: unknown): value is ArchiveContents {
  return isRecord(value) && Array.isArray(value['processes']) && isRecord(value['container']);
}
