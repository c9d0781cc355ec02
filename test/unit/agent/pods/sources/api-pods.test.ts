import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiPodsOptions } from '../../../../../src/agent/pods/index.ts';
import { ApiPods } from '../../../../../src/agent/pods/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { StatusError } from '../../../../../src/api/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { memoryLog, metrics, namesOf } from '../support.ts';

type Api = ApiPodsOptions['api'];
type Event = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: Pod };

const pod = (name: string, resourceVersion: string): Pod => ({
  metadata: { name, namespace: 'default', resourceVersion },
  spec: { nodeName: 'n1', containers: [] },
});

/** A server that answers lists and watches as the test says, in turn; after the last watch it is silent. */
function fakeApi(lists: (readonly Pod[] | Error)[], watches: (readonly Event[] | Error)[]) {
  const asked: string[] = [];
  const api = {
    async list(_kind: unknown, { fieldSelector }: { fieldSelector?: string }) {
      asked.push(`list ${fieldSelector}`);
      const items = lists.shift();
      if (items instanceof Error) throw items;
      return { metadata: { resourceVersion: '10' }, items: [...(items ?? [])] };
    },
    async *watch(
      _kind: unknown,
      { resourceVersion, signal }: { resourceVersion?: string; signal?: AbortSignal },
    ) {
      asked.push(`watch ${resourceVersion}`);
      const events = watches.shift();
      if (events instanceof Error) throw events;
      yield* events ?? [];
      if (watches.length === 0) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    },
  };
  // the fake answers with pods only
  return { api: api as unknown as Api, asked };
}

async function following(
  fake: { api: Api },
  work: (parts: {
    pods(): Pod[];
    /** How often a listener was called. */
    heard(): number;
    lines: string[];
    clock: ReturnType<typeof createManualClock>;
  }) => Promise<void>,
) {
  const clock = createManualClock();
  const { log, lines } = memoryLog();
  const source = new ApiPods({
    api: fake.api,
    nodeName: 'n1',
    metrics: metrics(),
    log,
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  let calls = 0;
  using _listener = source.onChange(() => void calls++);
  const running = source.run(stop.signal, () => undefined);
  try {
    await work({ pods: () => [...source.pods()], heard: () => calls, lines, clock });
  } finally {
    stop.abort();
    await running;
  }
}

test('pods of this node are listed and then followed', async () => {
  const events: Event[] = [
    { type: 'ADDED', object: pod('b', '11') },
    { type: 'MODIFIED', object: pod('a', '12') },
    { type: 'DELETED', object: pod('b', '13') },
  ];
  const fake = fakeApi([[pod('a', '9')]], [events]);
  await following(fake, async ({ pods, clock }) => {
    await clock.advance(1);
    assert.deepEqual(fake.asked, ['list spec.nodeName=n1', 'watch 10']);
    assert.deepEqual(
      pods().map(({ metadata }) => metadata?.resourceVersion),
      ['12'],
    );
  });
});

test('what this agent wrote itself is known at once, and passed on a moment later; what others write at once', async () => {
  const at = (name: string, version: string, status: NonNullable<Pod['status']>, generation = 1): Pod => ({
    metadata: { name, namespace: 'default', generation, resourceVersion: version },
    status,
  });
  const ready = { type: 'Ready', status: 'True' };
  const gate = { type: 'example.com/gate', status: 'True' };
  const cases: [Pod, number][] = [
    [at('a', '12', { phase: 'Running', podIP: '10.0.0.1', conditions: [ready] }), 0],
    [at('a', '13', { phase: 'Running', conditions: [ready, gate] }), 1],
    [at('a', '14', { phase: 'Running', resourceClaimStatuses: [{ name: 'claim' }] }), 1],
    [at('a', '15', { phase: 'Failed' }), 1],
    [at('a', '16', { phase: 'Pending' }, 2), 1],
  ];
  for (const [object, atOnce] of cases) {
    const fake = fakeApi([[at('a', '9', { phase: 'Pending' })]], [[{ type: 'MODIFIED', object }]]);
    await following(fake, async ({ pods, clock, heard }) => {
      await clock.advance(1);
      assert.deepEqual(pods(), [object]);
      assert.equal(heard(), 1 + atOnce, object.metadata?.resourceVersion);
      await clock.advance(1000);
      assert.equal(heard(), 2);
    });
  }
});

test('a watch that ends goes on where it was, bookmarks counted; only what is too old is listed anew', async () => {
  const expired = new StatusError('Expired', 'too old', { code: 410 });
  const bookmark: Event = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '40' } } };
  const fake = fakeApi([[pod('a', '9')], [pod('c', '50')]], [[bookmark], expired, []]);
  await following(fake, async ({ pods, clock }) => {
    await clock.advance(5000);
    const again = ['list spec.nodeName=n1', 'watch 10', 'watch 40', 'list spec.nodeName=n1', 'watch 10'];
    assert.deepEqual(fake.asked, again);
    assert.deepEqual(namesOf(pods()), ['c']);
  });
});

test('an API that is away is asked ever more seldom, told once, and what was known stays', async () => {
  const away = () => new Error('connection refused');
  const fake = fakeApi(
    [[pod('a', '9')]],
    [[], ...Array.from({ length: 50 }, away), [{ type: 'ADDED', object: pod('b', '11') }]],
  );
  await following(fake, async ({ pods, lines, clock }) => {
    await clock.advance(120_000);
    assert.ok(fake.asked.length < 15, `${fake.asked.length} times`);
    assert.deepEqual(namesOf(pods()), ['a']);
    assert.equal(
      lines.filter((line) => /cannot be followed on the API: connection refused/.test(line)).length,
      1,
    );
    await clock.advanceUntil(() => pods().length === 2, 50 * 30_000);
    assert.equal(lines.filter((line) => /followed on the API again/.test(line)).length, 1);
  });
});

test('more pods than any node has are not kept', async () => {
  const many = Array.from({ length: 5001 }, (_, at) => pod(`p${at}`, '1'));
  await following(fakeApi([many], [[]]), async ({ pods, lines, clock }) => {
    await clock.advance(1);
    assert.equal(pods().length, 5000);
    assert.equal(lines.filter((line) => /more than 5000 pods/.test(line)).length, 1);
  });
});

test('a pod of the API does not say where it comes from; a mirror keeps what it shows', async () => {
  const source = 'kubernetes.io/config.source';
  const claiming = (name: string, resourceVersion: string, more: Record<string, string> = {}): Pod => ({
    ...pod(name, resourceVersion),
    metadata: { ...pod(name, resourceVersion).metadata, annotations: { a: 'b', [source]: 'file', ...more } },
  });
  const mirror = claiming('mirror', '2', { 'kubernetes.io/config.mirror': 'x' });
  const later: Event[] = [{ type: 'ADDED', object: claiming('watched', '11') }];
  await following(fakeApi([[claiming('listed', '1'), mirror]], [later]), async ({ pods }) => {
    await waitFor('the watched pod', () => pods().length === 3);
    const annotations = new Map(pods().map(({ metadata }) => [metadata?.name, metadata?.annotations]));
    assert.deepEqual(annotations.get('listed'), { a: 'b' });
    assert.deepEqual(annotations.get('watched'), { a: 'b' });
    assert.deepEqual(annotations.get('mirror'), mirror.metadata?.annotations);
  });
});
