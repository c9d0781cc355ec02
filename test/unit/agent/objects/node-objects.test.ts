import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Known } from '../../../../src/agent/objects/index.ts';
import { NodeObjects } from '../../../../src/agent/objects/index.ts';
import type { ConfigMap, Pod } from '../../../../src/api/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { memoryLog } from '../pods/support.ts';
import { away, expired, FakeApi, forbidden } from './fake-api.ts';

function podOf(uid: string, configMaps: readonly string[], secrets: readonly string[] = []): Pod {
  const envFrom = [
    ...configMaps.map((name) => ({ configMapRef: { name } })),
    ...secrets.map((name) => ({ secretRef: { name } })),
  ];
  const spec = { containers: [{ name: 'c', image: 'i', envFrom }] };
  return { metadata: { name: uid, namespace: 'shop', uid }, spec };
}

interface Lab {
  readonly api: FakeApi;
  readonly objects: NodeObjects;
  readonly clock: ManualClock;
  readonly lines: string[];
  /** `ConfigMap m: a b`, for each change. */
  readonly changes: string[];
  /** What is known of the ConfigMap `m`, in a word. */
  m(): string;
  /** Lets what is under way go on. */
  settle(): Promise<void>;
}

async function lab(
  options: { maxObjects?: number; maxBytes?: number },
  work: (lab: Lab) => Promise<void>,
): Promise<void> {
  const [api, clock] = [new FakeApi(), createManualClock()];
  const { log, lines } = memoryLog();
  const objects = new NodeObjects({ api: api.api, clock, log, random: () => 0, ...options });
  const changes: string[] = [];
  using _changes = objects.onChange(({ kind, name }, uids) => {
    changes.push(`${kind} ${name}: ${[...uids].sort().join(' ')}`);
  });
  const end = new AbortController();
  const running = objects.run(end.signal, () => undefined);
  const m = () => describeKnown(objects.configMap('shop', 'm'));
  try {
    await work({ api, objects, clock, lines, changes, m, settle: () => clock.advance(1) });
  } finally {
    end.abort();
    await running;
  }
  assert.deepEqual(api.watching, [], 'nothing is watched any more');
}

function describeKnown(known: Known<ConfigMap>): string {
  if (known.state === 'present') return JSON.stringify(known.object.data);
  return known.state === 'absent' ? 'absent' : `${known.state}: ${known.message}`;
}

describe('an object that a pod names', () => {
  test('is absent, then there, then another, then gone', async () => {
    await lab({}, async ({ api, objects, changes, m, settle }) => {
      assert.match(m(), /^waiting: the ConfigMap "m" is named by no pod/);
      objects.hold(podOf('a', ['m']));
      assert.match(m(), /^waiting: the API has not told yet whether there is a ConfigMap "m"$/);
      await settle();
      assert.equal(m(), 'absent');
      api.put('configmaps shop/m', { data: { k: '1' } });
      await settle();
      assert.equal(m(), '{"k":"1"}');
      api.put('configmaps shop/m', { data: { k: '2' } });
      await settle();
      assert.equal(m(), '{"k":"2"}');
      api.delete('configmaps shop/m');
      await settle();
      assert.equal(m(), 'absent');
      assert.deepEqual(changes, ['ConfigMap m: a', 'ConfigMap m: a', 'ConfigMap m: a', 'ConfigMap m: a']);
      assert.deepEqual(api.asked, ['list configmaps shop/m', 'watch configmaps shop/m from 10']);
    });
  });

  test('is no news when its values stay', async () => {
    await lab({}, async ({ api, objects, changes, settle }) => {
      api.put('configmaps shop/m', { data: { k: '1' } });
      objects.hold(podOf('a', ['m']));
      await settle();
      for (let round = 0; round < 5; round += 1) {
        api.put('configmaps shop/m', { data: { k: '1' }, metadata: { annotations: { round: `${round}` } } });
        await settle();
      }
      assert.equal(changes.length, 1);
    });
  });

  test('is kept without what nobody reads', async () => {
    await lab({}, async ({ api, objects, settle }) => {
      const metadata = { annotations: { a: 'x' }, managedFields: [{ manager: 'x' }], uid: 'u' };
      api.put('configmaps shop/m', { data: { k: '1' }, metadata });
      objects.hold(podOf('a', ['m']));
      await settle();
      const known = objects.configMap('shop', 'm');
      assert.ok(known.state === 'present');
      assert.deepEqual(Object.keys(known.object.metadata ?? {}).sort(), [
        'name',
        'namespace',
        'resourceVersion',
        'uid',
      ]);
    });
  });

  test('is watched once for 110 pods, until the last of them is gone', async () => {
    await lab({}, async ({ api, objects, changes, m, settle }) => {
      const uids = Array.from({ length: 110 }, (_, at) => `uid-${at}`);
      for (const uid of uids) objects.hold(podOf(uid, ['m'], ['s']));
      await settle();
      assert.deepEqual(api.watching, ['configmaps shop/m', 'secrets shop/s']);
      assert.equal(api.asked.length, 4);
      api.put('configmaps shop/m', { data: {} });
      await settle();
      assert.equal(changes.at(-1)?.split(' ').length, 112);
      for (const uid of uids.slice(1)) objects.release(uid);
      await settle();
      assert.equal(m(), '{}');
      objects.release('uid-0');
      objects.release('uid-0');
      await settle();
      assert.deepEqual(api.watching, []);
      assert.equal(objects.size, 0);
      assert.match(m(), /^waiting: the ConfigMap "m" is named by no pod/);
    });
  });

  test('is followed as the pod names it now', async () => {
    await lab({}, async ({ api, objects, settle }) => {
      objects.hold(podOf('a', ['m', 'n'], ['s']));
      await settle();
      objects.hold(podOf('a', ['n', 'o']));
      await settle();
      assert.deepEqual(api.watching, ['configmaps shop/n', 'configmaps shop/o']);
      objects.hold(podOf('a', []));
      await settle();
      assert.deepEqual(api.watching, []);
      assert.equal(objects.size, 0);
    });
  });

  test('is followed for a pod beside what that names, until the pod is released', async () => {
    await lab({}, async ({ api, objects, settle }) => {
      const key = { kind: 'Secret', namespace: 'vault', name: 'key' } as const;
      objects.follow('a', key);
      await settle();
      assert.deepEqual(api.watching, [], 'the pod is not held');
      objects.hold(podOf('a', ['m']));
      objects.follow('a', key);
      objects.follow('a', key);
      objects.follow('a', { kind: 'ConfigMap', namespace: 'shop', name: 'm' });
      objects.hold(podOf('a', []));
      await settle();
      assert.deepEqual(api.watching, ['configmaps shop/m', 'secrets vault/key']);
      assert.equal(objects.secret('vault', 'key').state, 'absent');
      objects.hold(podOf('b', [], ['s']));
      objects.follow('b', key);
      objects.release('a');
      await settle();
      assert.deepEqual(api.watching, ['secrets shop/s', 'secrets vault/key']);
      objects.release('b');
      await settle();
      assert.equal(objects.size, 0);
    });
  });

  test('that is refused is asked for again when a pod asks for it again', async () => {
    await lab({}, async ({ api, objects, settle }) => {
      const key = { kind: 'Secret', namespace: 'vault', name: 'key' } as const;
      api.refused.set('secrets vault/key', forbidden('the secret'));
      objects.hold(podOf('a', []));
      objects.follow('a', key);
      await settle();
      assert.equal(objects.secret('vault', 'key').state, 'refused');
      api.refused.clear();
      await settle();
      assert.equal(objects.secret('vault', 'key').state, 'refused');
      objects.follow('a', key);
      await settle();
      assert.equal(objects.secret('vault', 'key').state, 'absent');
    });
  });

  test('that is immutable is watched no more, and read again for another pod', async () => {
    await lab({}, async ({ api, objects, changes, m, settle }) => {
      api.put('configmaps shop/m', { data: { k: '1' }, immutable: true });
      objects.hold(podOf('a', ['m']));
      await settle();
      assert.equal(m(), '{"k":"1"}');
      assert.deepEqual(api.watching, []);
      assert.deepEqual(api.asked, ['list configmaps shop/m']);
      api.delete('configmaps shop/m');
      api.put('configmaps shop/m', { data: { k: '2' } });
      objects.hold(podOf('b', ['m']));
      assert.equal(m(), '{"k":"1"}', 'what is known is not forgotten meanwhile');
      await settle();
      assert.equal(m(), '{"k":"2"}');
      assert.deepEqual(api.watching, ['configmaps shop/m']);
      api.put('configmaps shop/m', { data: { k: '3' }, immutable: true });
      await settle();
      assert.deepEqual(api.watching, [], 'it has become immutable');
      assert.deepEqual(changes, ['ConfigMap m: a', 'ConfigMap m: a b', 'ConfigMap m: a b']);
    });
  });

  test('of another name that a server sends all the same is not taken for it', async () => {
    await lab({}, async ({ api, objects, m, settle }) => {
      api.put('configmaps shop/m', { data: { k: '1' }, metadata: { name: 'other' } });
      objects.hold(podOf('a', ['m']));
      await settle();
      assert.equal(m(), 'absent');
      api.put('configmaps shop/m', { data: { k: '2' }, metadata: { name: 'other' } });
      await settle();
      assert.equal(m(), 'absent');
    });
  });
});

describe('when the API', () => {
  test('is away, what is known stays, and what is not known says why', async () => {
    await lab({}, async ({ api, objects, clock, lines, m, settle }) => {
      api.put('configmaps shop/m', { data: { k: '1' } });
      objects.hold(podOf('a', ['m', 'gone']));
      await clock.advance(60_000);
      api.failure = away;
      api.breakWatches();
      objects.hold(podOf('b', ['m', 'new']));
      await clock.advance(600_000);
      assert.equal(m(), '{"k":"1"}');
      assert.equal(objects.configMap('shop', 'gone').state, 'absent');
      assert.equal(
        describeKnown(objects.configMap('shop', 'new')),
        'waiting: the API does not tell whether there is a ConfigMap "new": nothing listens there',
      );
      const tries = api.asked.length;
      assert.ok(tries < 100, `${tries} questions in ten minutes`);
      api.failure = undefined;
      api.put('configmaps shop/m', { data: { k: '2' } });
      await clock.advance(31_000);
      assert.equal(m(), '{"k":"2"}');
      assert.equal(objects.configMap('shop', 'new').state, 'absent');
      await settle();
      const logged = lines.filter((line) => line.includes('trust bundles of pods'));
      assert.equal(logged.filter((line) => line.includes('WARN')).length, 1, logged.join('\n'));
    });
  });

  test('refuses, that is said and tried again, at once for another pod', async () => {
    await lab({}, async ({ api, objects, clock, m, changes, settle }) => {
      api.put('configmaps shop/m', { data: {} });
      api.refused.set('configmaps shop/m', forbidden('configmaps "m"'));
      objects.hold(podOf('a', ['m']));
      await settle();
      assert.equal(m(), 'refused: configmaps "m" is forbidden');
      await clock.advance(600);
      assert.equal(api.asked.length, 2);
      await clock.advance(300_000);
      const asked = api.asked.length;
      assert.equal(changes.length, 1, 'the same refusal is no news');
      api.refused.clear();
      objects.hold(podOf('b', ['m']));
      await settle();
      assert.equal(m(), '{}');
      assert.equal(api.asked.length, asked + 2);
    });
  });

  test('has forgotten the version, the object is listed again', async () => {
    await lab({}, async ({ api, objects, clock, m, lines, settle }) => {
      objects.hold(podOf('a', ['m']));
      await settle();
      api.breakWatches(expired);
      api.put('configmaps shop/m', { data: { k: '1' } });
      await clock.advance(1000);
      assert.equal(m(), '{"k":"1"}');
      assert.deepEqual(api.asked.slice(2), ['list configmaps shop/m', 'watch configmaps shop/m from 11']);
      assert.deepEqual(lines, []);
    });
  });

  test('loses the connection, the watch goes on where it was', async () => {
    await lab({}, async ({ api, objects, clock, m, settle }) => {
      objects.hold(podOf('a', ['m']));
      await settle();
      api.put('configmaps shop/m', { data: { k: '1' } });
      await settle();
      api.breakWatches();
      await clock.advance(1000);
      api.put('configmaps shop/m', { data: { k: '2' } });
      await settle();
      assert.equal(m(), '{"k":"2"}');
      assert.deepEqual(api.asked.slice(2), ['watch configmaps shop/m from 11']);
    });
  });

  test('is asked for many objects, that is spread', async () => {
    await lab({}, async ({ api, objects, settle }) => {
      const gate = Promise.withResolvers<void>();
      api.gate = gate.promise;
      objects.hold(
        podOf(
          'a',
          Array.from({ length: 500 }, (_, at) => `m${at}`),
        ),
      );
      await settle();
      assert.equal(api.asked.length, 8);
      gate.resolve();
      await settle();
      assert.equal(api.watching.length, 500);
      assert.equal(api.mostListsAtOnce, 8);
    });
  });
});

describe('more objects than a node follows', () => {
  test('wait for others to go', async () => {
    await lab({ maxObjects: 3 }, async ({ api, objects, settle }) => {
      objects.hold(podOf('a', ['a', 'b']));
      objects.hold(podOf('b', ['c', 'd', 'e']));
      await settle();
      assert.deepEqual(api.watching, ['configmaps shop/a', 'configmaps shop/b', 'configmaps shop/c']);
      assert.equal(
        describeKnown(objects.configMap('shop', 'd')),
        'refused: this node reads at most 3 ConfigMaps, Secrets and trust bundles: the ConfigMap "d" is read when fewer are named',
      );
      objects.hold(podOf('c', ['e']));
      objects.hold(podOf('a', ['b']));
      await settle();
      assert.deepEqual(api.watching, ['configmaps shop/b', 'configmaps shop/c', 'configmaps shop/d']);
      objects.release('b');
      await settle();
      assert.deepEqual(api.watching, ['configmaps shop/b', 'configmaps shop/e']);
      assert.equal(objects.configMap('shop', 'e').state, 'absent');
    });
  });
});

describe('larger objects than a node keeps', () => {
  const kib = 1024;
  const values = (bytes: number) => ({ data: { k: 'x'.repeat(bytes) } });
  const noRoom = (kind: string, name: string) =>
    new RegExp(
      `^refused: this node keeps at most 0.125 MiB of ConfigMaps, Secrets and trust bundles, and has no room for the ${kind} "${name}", which has \\d+ bytes: it is read again when others need less$`,
    );
  const stateOf = (objects: NodeObjects, names: string) =>
    [...names].map((name) => `${name} ${objects.configMap('shop', name).state}`).join(', ');

  test('are refused, and read when others go or need less', async () => {
    await lab({ maxBytes: 128 * kib }, async ({ api, objects, changes, settle }) => {
      for (const name of 'abcd') api.put(`configmaps shop/${name}`, values(50 * kib));
      api.put('configmaps shop/e', values(10 * kib));
      api.put('secrets shop/s', values(60 * kib));
      objects.hold(podOf('1', ['a', 'b', 'c', 'd', 'e']));
      objects.hold(podOf('2', [], ['s']));
      await settle();
      assert.equal(stateOf(objects, 'abcde'), 'a present, b present, c refused, d refused, e present');
      assert.match(describeKnown(objects.configMap('shop', 'c')), noRoom('ConfigMap', 'c'));
      assert.match(describeKnown(objects.secret('shop', 's')), noRoom('Secret', 's'));
      const before = [...changes];
      assert.equal(before.length, 6);
      await settle();
      assert.deepEqual(changes, before, 'nothing is tried in vain');

      api.put('configmaps shop/a', values(1));
      await settle();
      assert.equal(stateOf(objects, 'abcde'), 'a present, b present, c present, d refused, e present');
      api.delete('configmaps shop/b');
      await settle();
      assert.equal(stateOf(objects, 'abcde'), 'a present, b absent, c present, d present, e present');
      assert.equal(objects.secret('shop', 's').state, 'refused');
      objects.hold(podOf('1', ['a']));
      await settle();
      assert.equal(objects.secret('shop', 's').state, 'present');
    });
  });

  test('that grow are kept no more, those that shrink are kept again; immutable ones too', async () => {
    await lab({ maxBytes: 128 * kib }, async ({ api, objects, settle }) => {
      api.put('configmaps shop/a', values(100 * kib));
      api.put('configmaps shop/b', values(1));
      api.put('configmaps shop/i', { ...values(60 * kib), immutable: true });
      objects.hold(podOf('1', ['a', 'b', 'i']));
      await settle();
      assert.equal(stateOf(objects, 'abi'), 'a present, b present, i refused');
      api.put('configmaps shop/b', values(100 * kib));
      await settle();
      assert.equal(stateOf(objects, 'abi'), 'a present, b refused, i refused');
      api.put('configmaps shop/b', values(2));
      await settle();
      assert.equal(stateOf(objects, 'abi'), 'a present, b present, i refused');
      api.put('configmaps shop/a', values(2));
      await settle();
      assert.equal(stateOf(objects, 'abi'), 'a present, b present, i present');
      assert.deepEqual(api.watching, ['configmaps shop/a', 'configmaps shop/b']);
    });
  });

  test('leave no room taken when they and their pods are gone', async () => {
    await lab({ maxBytes: 128 * kib }, async ({ api, objects, settle }) => {
      for (let round = 0; round < 5; round += 1) {
        api.put('configmaps shop/a', values(100 * kib));
        api.put('configmaps shop/b', values(100 * kib));
        objects.hold(podOf('1', ['a', 'b']));
        await settle();
        assert.equal(stateOf(objects, 'ab'), 'a present, b refused', `round ${round}`);
        objects.release('1');
        await settle();
      }
    });
  });
});

test('what was named before the service runs is followed when it does, and again when it runs again', async () => {
  const [api, clock] = [new FakeApi(), createManualClock()];
  const objects = new NodeObjects({ api: api.api, clock, log: memoryLog().log, random: () => 0 });
  objects.hold(podOf('a', ['m']));
  for (let round = 0; round < 2; round += 1) {
    const end = new AbortController();
    const running = objects.run(end.signal, () => undefined);
    await clock.advance(1);
    assert.deepEqual(api.watching, ['configmaps shop/m']);
    end.abort();
    await running;
    assert.deepEqual(api.watching, []);
  }
});

test('what one listener throws keeps no other from being called', async () => {
  await lab({}, async ({ objects, changes, lines, settle }) => {
    using _failing = objects.onChange(() => {
      throw new Error('broken listener');
    });
    objects.hold(podOf('a', ['m']));
    await settle();
    assert.equal(changes.length, 1);
    assert.ok(lines.some((line) => line.includes('broken listener')));
  });
});
