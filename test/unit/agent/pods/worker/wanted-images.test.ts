import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ImageState, Images, ImageWish } from '../../../../../src/agent/images/index.ts';
import type { Plan, StartStep } from '../../../../../src/agent/pods/plan/index.ts';
import { WantedImages } from '../../../../../src/agent/pods/worker/wanted-images.ts';
import type { Pod } from '../../../../../src/api/index.ts';

const pod: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: {
    containers: [
      { name: 'main', image: 'app:1', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      { name: 'other', image: 'app:1' },
    ],
    volumes: [
      { name: 'v', image: { reference: 'data:1', pullPolicy: 'Always' } },
      { name: 'unused', image: { reference: 'unused:1' } },
      { name: 'plain', emptyDir: {} },
    ],
  },
};
const present = (id: string): ImageState => ({ state: 'present', id, user: {} });
const step: StartStep = {
  ...{ kind: 'start', container: 'main', type: 'regular', sandboxId: 's' },
  ...{ attempt: 2, restartCount: 2, imageId: 'app' },
};

function wanted(states: Readonly<Record<string, ImageState>>) {
  const wishes: ImageWish[] = [];
  const images: Images = {
    want(wish) {
      wishes.push(wish);
      return states[wish.image] ?? { state: 'pulling', message: `pulling ${wish.image}` };
    },
    forget: () => undefined,
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const made = new WantedImages(images);
  const plan: Plan = {
    ...{ stage: 'starting', steps: [], waits: new Map() },
    imagesWanted: ['main', 'other'].map((container) => ({ container, attempt: 2 })),
  };
  made.ask(plan);
  return { made, wishes };
}

describe('the images of a container that mounts one as a volume', () => {
  test('are all asked for at once, each by its own policy', () => {
    const { made, wishes } = wanted({});
    made.states(pod);
    assert.deepEqual(
      wishes.map(({ container, image, pullPolicy, attempt }) => [container, image, pullPolicy, attempt]),
      [
        ['main', 'app:1', 'IfNotPresent', 2],
        ['volume v of main', 'data:1', 'Always', 2],
        ['other', 'app:1', 'IfNotPresent', 2],
      ],
    );
  });

  test('must be there: what is wrong with the mounted one is said of the container', () => {
    const failed: ImageState = { state: 'failed', reason: 'ErrImagePull', message: 'no', untilMs: 1 };
    const { made } = wanted({ 'app:1': present('app'), 'data:1': failed });
    const states = made.states(pod);
    assert.deepEqual(states.get('main'), failed);
    assert.deepEqual(states.get('other'), present('app'));
    assert.deepEqual([...made.volumeImagesOf(pod, step)], []);
  });

  test('are given to its start', () => {
    const { made } = wanted({ 'app:1': present('app'), 'data:1': present('data') });
    assert.deepEqual(made.states(pod).get('main'), present('app'));
    assert.deepEqual([...made.volumeImagesOf(pod, step)], [['v', 'data']]);
    assert.deepEqual(made.imageOf(pod, step), present('app'));
  });
});
