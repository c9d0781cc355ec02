import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { servedKinds } from '../../../../../src/api/index.ts';
import { applyStrategicPatch, PatchError } from '../../../../../src/api/patch/index.ts';

type Members = Readonly<Record<string, unknown>>;

const pod = servedKinds.find(({ kind }) => kind === 'Pod')?.root;
assert.ok(pod);
const root = pod;
const apply = (document: Members, patch: Members) => applyStrategicPatch(root, document, patch);

const texts = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}`);
const env = (count: number) => texts(count).map((name) => ({ name, value: '1' }));
const times = (count: number, item: object) => Array.from({ length: count }, () => item);
const podOf = (container: object) => ({ spec: { containers: [container] } });
const changing = (containers: readonly object[]) => ({ spec: { containers } });

describe('an item that a strategic merge patch names several times', () => {
  it('is merged as often, one time after the other', () => {
    const live = podOf({ name: 'c', image: '1', env: env(2) });
    const changes = [
      { name: 'c', image: '2', env: [{ name: 'x-0', value: '2' }] },
      { name: 'c', image: '3', env: [{ name: 'new', value: '2' }] },
      {
        name: 'c',
        env: [
          { name: 'new', value: null },
          { name: 'x-1', $patch: 'delete' },
        ],
      },
    ];
    const oneByOne = changes.reduce((object: Members, change) => apply(object, changing([change])), live);
    assert.deepEqual(apply(live, changing(changes)), oneByOne);
  });

  it('may be large, as long as it is not many times', () => {
    const live = podOf({ name: 'c', env: env(8000) });
    const patched = apply(live, changing(times(3, { name: 'c', env: [{ name: 'x-0', value: '2' }] })));
    assert.deepEqual(
      patched,
      podOf({ name: 'c', env: [{ name: 'x-0', value: '2' }, ...env(8000).slice(1)] }),
    );
  });

  it('may be named many times, when it is small', () => {
    const port = { containerPort: 53, protocol: 'UDP' };
    const live = podOf({ name: 'c', ports: [port] });
    assert.deepEqual(apply(live, podOf({ name: 'c', ports: times(5000, port) })), live);
  });

  const long = { name: 'c', env: env(8000), args: texts(8000) };
  for (const [what, live, patch] of [
    ['a list in it is merged', podOf(long), changing(times(500, { name: 'c', env: [{ name: 'x-0' }] }))],
    [
      'a list in it is put in order',
      podOf(long),
      changing(times(500, { name: 'c', '$setElementOrder/env': [{ name: 'x-0' }] })),
    ],
    [
      'something is taken away from a list in it',
      podOf(long),
      changing(times(500, { name: 'c', '$deleteFromPrimitiveList/args': ['none'] })),
    ],
    [
      'a list in it grows',
      podOf({ name: 'c' }),
      changing(env(3000).map((item) => ({ name: 'c', env: [item] }))),
    ],
    [
      'a map in it is merged',
      {
        spec: {
          volumes: [{ name: 'v', csi: { volumeAttributes: Object.fromEntries(texts(8000).entries()) } }],
        },
      },
      { spec: { volumes: times(500, { name: 'v', csi: { volumeAttributes: { a: 'b' } } }) } },
    ],
  ] as const) {
    it(`is refused when it is large, named hundreds of times, and each time ${what}`, () => {
      assert.throws(
        () => apply(live, patch),
        (error) => error instanceof PatchError && error.reason === 'tooLarge',
      );
    });
  }
});
