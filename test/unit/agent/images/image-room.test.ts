import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { idOf } from './fake-image-service.ts';
import { describeState, podOf, startImageLab, wishOf } from './image-lab.ts';

const present = 'Pulled: Container image "web:1" already present on machine and can be accessed by the pod';
const refused = () => new RuntimeError('notFound', 'failed to pull and unpack image "web:1": not found');

describe('an image that is on the node', () => {
  test('is used as it is, and the pod hears of it', async () => {
    using lab = startImageLab();
    lab.service.add('web:1', { uid: 7 });
    assert.equal(describeState(lab.room.want(wishOf())), 'pulling Looking for image "web:1"');
    await lab.clock.advance(0);
    assert.deepEqual(lab.room.want(wishOf()), { state: 'present', id: idOf('web:1'), user: { uid: 7 } });
    assert.deepEqual(lab.changes, ['uid-p']);
    assert.deepEqual(lab.texts(), [present]);
    assert.deepEqual(lab.events[0]?.subject, {
      kind: 'Pod',
      namespace: 'shop',
      name: 'p',
      uid: 'uid-p',
      fieldPath: 'spec.containers{main}',
    });
    assert.deepEqual(lab.service.calls, ['ImageStatus']);
  });

  test('who it runs as is told: a name, an id, or root', async () => {
    using lab = startImageLab();
    lab.service.add('named:1', { username: 'nobody' });
    lab.service.add('root:1');
    lab.room.want(wishOf({ image: 'named:1', container: 'a' }));
    lab.room.want(wishOf({ image: 'root:1', container: 'b' }));
    await lab.clock.advance(0);
    const users = [wishOf({ image: 'named:1', container: 'a' }), wishOf({ image: 'root:1', container: 'b' })]
      .map((wish) => lab.room.want(wish))
      .map((state) => (state.state === 'present' ? state.user : undefined));
    assert.deepEqual(users, [{ username: 'nobody' }, {}]);
  });

  test('with the policy Always the registry is asked for each attempt, not for each look', async () => {
    using lab = startImageLab();
    lab.service.add('web:1');
    lab.service.answerPull = (pull) => pull.end();
    for (const attempt of [0, 0, 1]) {
      lab.room.want(wishOf({ pullPolicy: 'Always', attempt }));
      await lab.clock.advance(1000);
      assert.equal(lab.room.want(wishOf({ pullPolicy: 'Always', attempt })).state, 'present');
    }
    assert.equal(lab.service.pulls.length, 2);
  });

  test('that is removed later is brought again', async () => {
    using lab = startImageLab();
    lab.service.add('web:1');
    lab.room.want(wishOf());
    await lab.clock.advance(61_000);
    lab.service.images.clear();
    assert.equal(lab.room.want(wishOf()).state, 'present');
    await lab.clock.advance(0);
    assert.equal(describeState(lab.room.want(wishOf())), 'pulling Pulling image "web:1"');
    lab.service.pulls[0]?.end();
    await lab.clock.advance(0);
    assert.equal(lab.room.want(wishOf()).state, 'present');
  });
});

describe('an image that is not on the node', () => {
  test('is pulled, with the events that tell how long it took', async () => {
    using lab = startImageLab();
    lab.room.want(wishOf({ image: 'web' }));
    await lab.clock.advance(1234);
    assert.equal(lab.service.pulls[0]?.image, 'web:latest');
    assert.equal(lab.service.pulls[0]?.namespace, 'shop');
    lab.service.pulls[0]?.end();
    await lab.clock.advance(0);
    assert.equal(describeState(lab.room.want(wishOf({ image: 'web' }))), `present ${idOf('web:latest')}`);
    assert.deepEqual(lab.texts(), [
      'Pulling: Pulling image "web"',
      'Pulled: Successfully pulled image "web" in 1.234s (1.234s including waiting). Image size: 1000 bytes.',
    ]);
  });

  test('how long it is being pulled stands in its state, in steps, each a change', async () => {
    using lab = startImageLab();
    lab.room.want(wishOf());
    const messages = new Set<string>();
    for (let second = 0; second <= 1260; second += 5) {
      messages.add(describeState(lab.room.want(wishOf())));
      await lab.clock.advance(5000);
    }
    assert.deepEqual(
      [...messages].map((message) => message.replace('pulling Pulling image "web:1"', '')),
      [
        'pulling Looking for image "web:1"',
        '',
        ...['10 s', '30 s', '1 min', '2 min', '5 min', '10 min', '20 min'].map(
          (time) => ` for more than ${time}`,
        ),
      ],
    );
    assert.equal(lab.changes.length, 8);
  });

  test('and may not be pulled is an error until it is brought by other means', async () => {
    using lab = startImageLab();
    const wish = wishOf({ pullPolicy: 'Never' });
    lab.room.want(wish);
    await lab.clock.advance(35_000);
    const message = 'Container image "web:1" is not present with pull policy of Never';
    assert.equal(describeState(lab.room.want(wish)), `ErrImageNeverPull: ${message}`);
    assert.deepEqual(lab.texts(), [`ErrImageNeverPull: ${message}`, 'Failed: Error: ErrImageNeverPull']);
    lab.service.add('web:1');
    await lab.clock.advance(10_000);
    assert.equal(lab.room.want(wish).state, 'present');
    assert.equal(lab.service.pulls.length, 0);
  });

  test('and has no name that could be one is never asked for', async () => {
    using lab = startImageLab();
    const state = lab.room.want(wishOf({ image: 'Web:1' }));
    await lab.clock.advance(600_000);
    const message =
      'Failed to apply default image tag "Web:1": couldn\'t parse image name "Web:1": invalid reference format: repository name (library/Web) must be lowercase';
    assert.deepEqual(state, { state: 'failed', reason: 'InvalidImageName', message, untilMs: undefined });
    assert.deepEqual(lab.texts(), [`InspectFailed: ${message}`, 'Failed: Error: InvalidImageName']);
    assert.deepEqual(lab.service.calls, []);
  });
});

describe('a pull that fails', () => {
  test('is an error first and then a wait, which doubles up to five minutes', async () => {
    using lab = startImageLab();
    lab.service.answerPull = (pull) => pull.end(refused());
    lab.room.want(wishOf());
    const waits: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      await lab.clock.advanceUntil(() => lab.service.pulls.length > round, 301_000);
      await lab.clock.advance(0);
      const failed = lab.room.want(wishOf());
      assert.equal(describeState(failed), `ErrImagePull: ${refused().message}`);
      await lab.clock.advance(2000);
      const waiting = lab.room.want(wishOf());
      assert.equal(
        describeState(waiting),
        `ImagePullBackOff: Back-off pulling image "web:1": ErrImagePull: ${refused().message}`,
      );
      if (waiting.state === 'failed') waits.push((waiting.untilMs ?? 0) - lab.clock.now() + 2000);
    }
    assert.deepEqual(waits, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    assert.deepEqual(lab.texts().slice(0, 5), [
      'Pulling: Pulling image "web:1"',
      `Failed: Failed to pull image "web:1": ${refused().message}`,
      'Failed: Error: ErrImagePull',
      'BackOff: Back-off pulling image "web:1"',
      'Failed: Error: ImagePullBackOff',
    ]);
  });

  test('counts for the other containers of the pod with that image, and for no other pod', async () => {
    using lab = startImageLab();
    lab.service.answerPull = (pull) => pull.end(refused());
    lab.room.want(wishOf());
    await lab.clock.advance(100);
    lab.room.want(wishOf({ container: 'second' }));
    const other = wishOf({ pod: podOf('other') });
    lab.room.want(other);
    await lab.clock.advance(100);
    assert.match(describeState(lab.room.want(wishOf({ container: 'second' }))), /^ImagePullBackOff/);
    assert.match(describeState(lab.room.want(other)), /^ErrImagePull/);
  });

  test('says by its first word that the registry is away, or that the signature is bad', async () => {
    for (const [prefix, why] of [
      ['RegistryUnavailable', 'the registry is unavailable'],
      ['SignatureValidationFailed', 'the signature validation failed'],
    ]) {
      using lab = startImageLab();
      lab.service.answerPull = (pull) => pull.end(new RuntimeError('failed', `${prefix}: no route`));
      lab.room.want(wishOf());
      await lab.clock.advance(0);
      const message = `image pull failed for web:1 because ${why}: no route`;
      assert.equal(describeState(lab.room.want(wishOf())), `${prefix}: ${message}`);
    }
  });
});

describe('an image service', () => {
  test('that is away is told of, once in events, and asked until it is back', async () => {
    using lab = startImageLab();
    lab.service.failure = new RuntimeError('unavailable', 'connect ENOENT');
    lab.room.want(wishOf());
    await lab.clock.advance(120_000);
    const message = 'Failed to inspect image "web:1": connect ENOENT';
    assert.equal(describeState(lab.room.want(wishOf())), `ImageInspectError: ${message}`);
    assert.deepEqual(lab.texts(), [`InspectFailed: ${message}`, 'Failed: Error: ImageInspectError']);
    lab.service.failure = undefined;
    lab.service.add('web:1');
    await lab.clock.advance(10_000);
    assert.equal(lab.room.want(wishOf()).state, 'present');
  });

  test('that hangs is told of', async () => {
    using lab = startImageLab();
    lab.service.hangs = true;
    lab.room.want(wishOf());
    await lab.clock.advance(31_000);
    assert.equal(
      describeState(lab.room.want(wishOf())),
      'pulling Looking for image "web:1": the image service has not answered for more than 30 s',
    );
  });

  test('that dies during a pull delays it, and that is no failed pull', async () => {
    using lab = startImageLab();
    lab.room.want(wishOf());
    await lab.clock.advance(1000);
    lab.service.failure = new RuntimeError('unavailable', 'Connection dropped');
    lab.service.pulls[0]?.end(lab.service.failure);
    await lab.clock.advance(5000);
    assert.match(describeState(lab.room.want(wishOf())), /^ImageInspectError: .*Connection dropped/);
    lab.service.failure = undefined;
    lab.service.answerPull = (pull) => pull.end();
    await lab.clock.advance(10_000);
    assert.equal(lab.room.want(wishOf()).state, 'present');
    assert.ok(!lab.texts().some((text) => text.includes('Failed to pull')));
  });
});
