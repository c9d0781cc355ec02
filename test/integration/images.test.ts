/** Images of pods with a real containerd and a registry that does as it is bid. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ImageRoomOptions, ImageState, ImageWish } from '../../src/agent/images/index.ts';
import { ImageAccess, ImageCollector, ImageRoom } from '../../src/agent/images/index.ts';
import { ImageService, openConnection } from '../../src/agent/runtime/index.ts';
import type { Pod } from '../../src/api/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { secretsFrom } from '../unit/agent/images/image-lab.ts';
import type { LabContainerd, LabRegistry } from './lab/index.ts';
import { image, startContainerd, startRegistry } from './lab/index.ts';

let containerd: LabContainerd;
let registry: LabRegistry;

before(async () => {
  registry = await startRegistry();
  containerd = await startContainerd();
});

after(async () => {
  await containerd?.[Symbol.asyncDispose]();
  await registry?.[Symbol.asyncDispose]();
});

const secretOf = (host: string, user: string, password: string): Record<string, string> => {
  const config = { auths: { [host]: { username: user, password } } };
  return { '.dockerconfigjson': Buffer.from(JSON.stringify(config)).toString('base64') };
};

/** A room of the test's own on the containerd of all. */
function openRoom(options: Partial<ImageRoomOptions> = {}) {
  const resources = new DisposableStack();
  const connection = resources.use(openConnection([containerd.endpoint]));
  const events: string[] = [];
  const room = resources.use(
    new ImageRoom({
      connection,
      timeoutMs: 10_000,
      pulls: { maxParallel: 1, ratePerSecond: 0, burst: 0 },
      secrets: secretsFrom(() => undefined),
      events: { record: (_, { reason, message }) => void events.push(`${reason}: ${message}`) },
      clock: systemClock,
      log: silentLogger(),
      ...options,
    }),
  );
  return {
    room,
    events,
    until: (wish: ImageWish, isSo: (state: ImageState) => boolean) =>
      waitFor(`image ${wish.image}: ${events.join('\n')}`, () => {
        const state = room.want(wish);
        return isSo(state) && state;
      }),
    [Symbol.dispose]: () => resources[Symbol.dispose](),
  };
}

const isPresent = ({ state }: ImageState) => state === 'present';
const isFailed = ({ state }: ImageState) => state === 'failed';

function wishOf(name: string, change: Partial<ImageWish> = {}, spec: Partial<Pod['spec']> = {}): ImageWish {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'shop', uid: 'uid-p' },
    spec: { containers: [{ name: 'main', image: name }], ...spec },
  };
  return { pod, container: 'main', image: name, pullPolicy: 'IfNotPresent', attempt: 0, ...change };
}

function messageOf(state: ImageState): string {
  return state.state === 'present' ? '' : state.message;
}

describe('an image of a registry', () => {
  test('is pulled once and is there for the next attempt; its user is known', async () => {
    using lab = openRoom();
    const { name } = await registry.add('web:1', { user: '7' });
    const state = await lab.until(wishOf(name), isPresent);
    assert.deepEqual(state.state === 'present' && state.user, { uid: 7 });
    assert.match(
      lab.events[1] ?? '',
      /^Pulled: Successfully pulled image ".*" in .*s \(.*s including waiting\)\. Image size: \d+ bytes\.$/,
    );
    const asked = registry.asked('web');
    await lab.until(wishOf(name, { attempt: 1 }), isPresent);
    assert.equal(registry.asked('web'), asked);
    await lab.until(wishOf(name, { attempt: 2, pullPolicy: 'Always' }), isPresent);
    assert.ok(registry.asked('web') > asked);
  });

  test('can be named by its digest', async () => {
    using lab = openRoom();
    const { pinned } = await registry.add('by-digest:1');
    await lab.until(wishOf(pinned), isPresent);
  });

  test('that is wanted by several pods at once is pulled once', async () => {
    using lab = openRoom();
    const { name } = await registry.add('shared:1', { extraBytes: 400_000 });
    const blobs = () => registry.requests.filter(({ path }) => path.startsWith('/v2/shared/blobs/')).length;
    const wishes = ['a', 'b', 'c'].map((pod) =>
      wishOf(name, { pod: { metadata: { name: pod, namespace: 'shop', uid: pod } } }),
    );
    for (const wish of wishes) lab.room.want(wish);
    for (const wish of wishes) await lab.until(wish, isPresent);
    assert.equal(
      blobs(),
      new Set(
        registry.requests.filter(({ path }) => path.startsWith('/v2/shared/blobs/')).map(({ path }) => path),
      ).size,
    );
  });
});

describe('a registry that', () => {
  test('does not have it: the error says so', async () => {
    using lab = openRoom();
    const state = await lab.until(wishOf(`${registry.host}/absent:1`), isFailed);
    assert.equal(state.state === 'failed' && state.reason, 'ErrImagePull');
    assert.match(messageOf(state), /failed to resolve image: .*absent:1: not found/);
  });

  for (const status of [429, 500]) {
    test(`answers ${status}: the error says so, and it is waited`, async () => {
      using lab = openRoom();
      const { name } = await registry.add(`fault${status}:1`);
      registry.faults.status = status;
      try {
        const state = await lab.until(wishOf(name), isFailed);
        assert.match(messageOf(state), new RegExp(`unexpected status.*${status}`));
        const waiting = await lab.until(
          wishOf(name),
          (now) => now.state === 'failed' && now.reason === 'ImagePullBackOff',
        );
        assert.match(messageOf(waiting), /^Back-off pulling image ".*": ErrImagePull: .*unexpected status/);
      } finally {
        registry.faults.status = undefined;
      }
    });
  }

  test('cuts off in the middle: that is an error', async () => {
    using lab = openRoom();
    const { name } = await registry.add('cut:1', { extraBytes: 3_000_000 });
    registry.faults.cutAfterBytes = 2_500_000;
    try {
      const state = await lab.until(wishOf(name), isFailed);
      assert.match(messageOf(state), /unexpected EOF|connection reset|short read/);
    } finally {
      registry.faults.cutAfterBytes = undefined;
    }
  });

  test('is slow: the pod waits, and what nobody waits for any more ends', async () => {
    using lab = openRoom();
    const { name } = await registry.add('slow:1', { extraBytes: 3_000_000 });
    registry.faults.bytesPerSecond = 200_000;
    try {
      lab.room.want(wishOf(name));
      await waitFor('the blobs to be asked for', () =>
        registry.requests.some(({ path }) => path.startsWith('/v2/slow/blobs/')),
      );
      assert.match(messageOf(lab.room.want(wishOf(name))), /^Pulling image/);
      lab.room.forget('uid-p');
    } finally {
      registry.faults.bytesPerSecond = undefined;
    }
    // Another image has its place at once: that one holds the only slot no more.
    const { name: next } = await registry.add('next:1');
    await lab.until(wishOf(next), isPresent);
    const { images } = await containerd.cri.call(ImageService.method.listImages, {});
    assert.ok(!images.some(({ repoTags }) => repoTags.includes(name)));
  });
});

describe('a registry that wants credentials', () => {
  const read = (byName: Record<string, Record<string, string>>) => secretsFrom((_, name) => byName[name]);

  test('lets in who has a secret for it, whichever of several', async () => {
    using lab = openRoom({
      secrets: read({
        wrong: secretOf(registry.host, 'me', 'guess'),
        right: secretOf(`http://${registry.host}/v1/`, 'me', 'opensesame'),
      }),
    });
    const { name } = await registry.add('private:1');
    registry.protect('private', ['me:opensesame']);
    const imagePullSecrets = [{ name: 'gone' }, { name: 'wrong' }, { name: 'right' }];
    await lab.until(wishOf(name, {}, { imagePullSecrets }), isPresent);
    assert.ok(
      lab.events.includes(
        'FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.',
      ),
    );
  });

  test('refuses others, and the errors hold no password', async () => {
    using lab = openRoom({ secrets: read({ wrong: secretOf(registry.host, 'me', 'guessed-password') }) });
    const { name } = await registry.add('closed:1');
    registry.protect('closed', ['me:opensesame']);
    const without = await lab.until(wishOf(name), isFailed);
    assert.match(messageOf(without), /authorization failed: no basic auth credentials/);
    const wrong = wishOf(name, {
      pod: {
        metadata: { name: 'q', namespace: 'shop', uid: 'q' },
        spec: { containers: [], imagePullSecrets: [{ name: 'wrong' }] },
      },
    });
    assert.match(messageOf(await lab.until(wrong, isFailed)), /401 Unauthorized/);
    assert.ok(!JSON.stringify([lab.events, messageOf(lab.room.want(wrong))]).includes('guessed-password'));
  });
});

test('an image that one pod may pull is not for one that may not', async () => {
  await using folder = await temporaryFolder();
  await using access = await ImageAccess.open({
    settings: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
    path: join(folder.path, 'pulled-images'),
    clock: systemClock,
    log: silentLogger(),
  });
  using lab = openRoom({ access, secrets: secretsFrom(() => secretOf(registry.host, 'me', 'opensesame')) });
  const { name } = await registry.add('tenant:1', { user: '13' });
  registry.protect('tenant', ['me:opensesame']);
  const wish = (uid: string, secrets: string[]) => {
    const imagePullSecrets = secrets.map((secret) => ({ name: secret }));
    const pod = {
      metadata: { name: uid, namespace: 'shop', uid },
      spec: { containers: [], imagePullSecrets },
    };
    return wishOf(name, { pod });
  };
  await lab.until(wish('tenant', ['right']), isPresent);
  const asked = registry.asked('tenant');
  await lab.until(wish('same-tenant', ['right']), isPresent);
  assert.equal(registry.asked('tenant'), asked);
  const other = await lab.until(wish('other-tenant', []), isFailed);
  assert.match(messageOf(other), /no basic auth credentials/);
});

test('unused images are removed, by id with all their names; pinned and used ones stay', async () => {
  using lab = openRoom();
  const [used, unused] = [
    await registry.add('used:1', { user: '11' }),
    await registry.add('unused:1', { user: '12' }),
  ];
  const usedState = await lab.until(wishOf(used.name), isPresent);
  await lab.until(wishOf(unused.name, { container: 'other' }), isPresent);
  await containerd.ctr('images', 'tag', unused.name, `${registry.host}/second:name`);
  using connection = openConnection([containerd.endpoint]);
  const collector = new ImageCollector({
    connection,
    timeoutMs: 10_000,
    settings: { highPercent: 85, lowPercent: 80, minAgeMs: 0, maxAgeMs: 0 },
    usedImages: () => new Set(usedState.state === 'present' ? [usedState.id] : []),
    nodeName: 'n1',
    events: { record: () => undefined },
    clock: systemClock,
    log: silentLogger(),
  });
  assert.ok((await collector.removeUnused(new AbortController().signal)) > 0);
  const { images } = await containerd.cri.call(ImageService.method.listImages, {});
  const names = images.flatMap(({ repoTags }) => repoTags);
  assert.ok(names.includes(used.name) && names.includes(image), names.join());
  assert.ok(!names.includes(unused.name) && !names.includes(`${registry.host}/second:name`), names.join());
  // The name that was removed is pulled again when a pod wants it.
  await lab.until(wishOf(unused.name, { container: 'other', attempt: 1 }), isPresent);
});

test('a containerd that is killed during a pull and comes back goes on with it', async () => {
  using lab = openRoom();
  const { name } = await registry.add('killed:1', { extraBytes: 3_000_000 });
  registry.faults.bytesPerSecond = 500_000;
  lab.room.want(wishOf(name));
  await waitFor('the blobs to be asked for', () =>
    registry.requests.some(({ path }) => path.startsWith('/v2/killed/blobs/')),
  );
  await containerd.kill9();
  const state = await lab.until(wishOf(name), isFailed);
  assert.equal(state.state === 'failed' && state.reason, 'ImageInspectError');
  registry.faults.bytesPerSecond = undefined;
  await containerd.restart();
  await lab.until(wishOf(name), isPresent);
  // That the connection broke counts as no failure; containerd's own debris, in the way of the next pull, is one.
  const failed = lab.events.filter((text) => text.includes('Failed to pull'));
  assert.ok(
    failed.every((text) => text.includes('failed to pull and unpack image')),
    failed.join('\n'),
  );
});
