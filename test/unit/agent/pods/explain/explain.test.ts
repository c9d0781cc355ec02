import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExplainInput } from '../../../../../src/agent/pods/explain/index.ts';
import {
  explainPod,
  explainRoutes,
  PodTimeline,
  podReasons,
  WaitTimes,
} from '../../../../../src/agent/pods/explain/index.ts';
import { RefusedError } from '../../../../../src/agent/server/index.ts';
import type { Case } from '../status/input.ts';
import {
  container,
  created,
  exited,
  exitRecord,
  finishedAt,
  inputOf,
  now,
  nowMs,
  running,
  startedAt,
  wait,
} from '../status/input.ts';

const explain = (given: Case, more: Partial<ExplainInput> = {}) => {
  const { pod, origin, plan, record, view } = inputOf(given);
  return explainPod({ pod, origin, plan, record, view, timeline: [], ...more });
};

describe('the explanation of a pod', () => {
  test('has its names, its phase and how far it is', () => {
    assert.partialDeepStrictEqual(explain({ status: { phase: 'Running' }, stage: 'terminating' }), {
      ...{
        namespace: 'default',
        name: 'web',
        uid: 'u1',
        origin: 'api',
        phase: 'Running',
        stage: 'terminating',
      },
    });
    assert.equal(explain({}, { phase: 'Failed' }).phase, 'Failed');
  });

  test('has what the pod waits for, since when and when it is tried next', () => {
    const waits = { ...wait('FailedMount', 'secret "db" not found'), untilMs: nowMs };
    const { waitsFor } = explain({ wait: waits }, { waitsSinceMs: new Map([['', Date.parse(startedAt)]]) });
    assert.deepEqual(waitsFor, {
      ...{ reason: 'FailedMount', message: 'secret "db" not found', since: startedAt, next: now },
      advice: podReasons.FailedMount.advice,
    });
  });

  test('has which containers are ready, as far as they have a status', () => {
    const spec = { containers: [container('main'), container('side')] };
    const { containers } = explain({ spec }, { ready: new Map([['main', false]]) });
    assert.deepEqual(
      containers.map(({ name, ready }) => [name, ready]),
      [
        ['main', false],
        ['side', undefined],
      ],
    );
  });

  test('has what its volumes show, since when, and why not something newer', () => {
    assert.equal(explain({}).volumes, undefined);
    const shows = 'configmap default/app version 7';
    const problem = 'configmap "app" not found';
    const contents = [
      { volume: 'a', shows, sinceMs: nowMs },
      { volume: 'b', shows, sinceMs: nowMs, problem },
    ];
    assert.deepEqual(explain({}, { contents }).volumes, [
      { name: 'a', shows, since: now },
      { name: 'b', shows, since: now, problem },
    ]);
  });

  test('names the container that waits where the pod as a whole does not', () => {
    const { waitsFor } = explain({ waits: { c: wait('ErrImagePull', 'not found') } });
    const { advice } = podReasons.ErrImagePull;
    assert.deepEqual(waitsFor, { reason: 'ErrImagePull', message: 'container c: not found', advice });
    assert.equal(explain({ containers: [running('c')] }).waitsFor, undefined);
  });

  test('names a container that something is wrong with, while the sandbox is still being made', () => {
    const waits = { c: wait('ContainerCreating', 'later'), d: wait('ErrImagePull', 'not found') };
    const { waitsFor } = explain({ wait: wait('ContainerCreating', 'the sandbox is being made'), waits });
    assert.deepEqual([waitsFor?.reason, waitsFor?.message], ['ErrImagePull', 'container d: not found']);
    const mount = explain({ wait: wait('FailedMount', 'no volume'), waits });
    assert.equal(mount.waitsFor?.reason, 'FailedMount');
  });

  test('has why it ends', () => {
    const termination = {
      cause: 'failed',
      graceSeconds: 0,
      sinceMs: 0,
      reason: 'Evicted',
      message: 'M',
    } as const;
    assert.deepEqual(explain({ record: { termination } }).ends, {
      cause: 'failed',
      reason: 'Evicted',
      message: 'M',
      advice: podReasons.Evicted.advice,
    });
  });

  test('has what happened', () => {
    const timeline = [{ atMs: nowMs, sinceMs: nowMs, what: 'admitted', count: 2 }];
    assert.deepEqual(explain({}, { timeline }).timeline, [{ time: now, what: 'admitted', count: 2 }]);
  });

  const failure = { reason: 'RunContainerError', message: 'no such file', atMs: 0, count: 4 };
  const lastExit = { exitCode: 1, reason: 'Error', finishedAt };
  const rows: readonly (readonly [what: string, given: Case, expected: object])[] = [
    ['is to come', {}, { state: 'waiting', restarts: 0, image: 'c:1' }],
    ['is created', { containers: [created('c')] }, { state: 'created' }],
    ['runs', { containers: [running('c', 2)] }, { state: 'running', since: startedAt, restarts: 2 }],
    [
      'has ended',
      { containers: [exited('c', 1)] },
      { state: 'ended', reason: 'Error', since: finishedAt, lastExit },
    ],
    [
      'waits',
      { containers: [exited('c', 1)], waits: { c: { ...wait('CrashLoopBackOff', 'why'), untilMs: nowMs } } },
      { state: 'waiting', reason: 'CrashLoopBackOff', message: 'why', next: now, lastExit },
    ],
    [
      'could not be started',
      { record: { containers: { c: { failure } } } },
      { state: 'waiting', reason: 'RunContainerError', message: 'no such file', failedStarts: 4 },
    ],
    ['ended before', { containers: [running('c', 1), exited('c', 1)] }, { state: 'running', lastExit }],
    [
      'ended, and the runtime forgot',
      { record: { containers: { c: { attempt: 3, lastExit: exitRecord('c', 3, 1) } } } },
      { state: 'ended', reason: 'Error', since: finishedAt, restarts: 3, lastExit },
    ],
  ];
  for (const [what, given, expected] of rows)
    test(`has a container that ${what}`, () =>
      assert.partialDeepStrictEqual(explain(given).containers[0], expected));

  test('has all containers with their type, in the order in which they start', () => {
    const spec = {
      initContainers: [container('i'), container('s', { restartPolicy: 'Always' })],
      ephemeralContainers: [container('e')],
    };
    const types = explain({ spec }).containers.map(({ name, type }) => `${name} ${type}`);
    assert.deepEqual(types, ['i init', 's sidecar', 'c regular', 'e ephemeral']);
  });
});

describe('a timeline', () => {
  const clock = { nowMs: 1000, now: () => clock.nowMs };

  test('counts what is repeated, and moves it to the end', () => {
    const timeline = new PodTimeline(clock);
    for (const what of ['admitted', 'pull failed', 'waits', 'pull failed', 'waits']) {
      clock.nowMs += 1000;
      timeline.add('u1', what);
    }
    const entries = timeline
      .entries('u1')
      .map(({ what, count, sinceMs, atMs }) => [what, count, sinceMs, atMs]);
    assert.deepEqual(entries, [
      ['admitted', 1, 2000, 2000],
      ['pull failed', 2, 3000, 5000],
      ['waits', 2, 4000, 6000],
    ]);
    timeline.forget('u1');
    assert.deepEqual(timeline.entries('u1'), []);
  });

  test('is bounded in entries, in their length and in pods', () => {
    const timeline = new PodTimeline(clock);
    for (let index = 0; index < 80; index += 1) timeline.add('u1', `step ${index}`);
    assert.equal(timeline.entries('u1').length, 50);
    assert.equal(timeline.entries('u1')[0]?.what, 'step 30');
    timeline.add('u2', 'x'.repeat(10_000));
    assert.equal(timeline.entries('u2')[0]?.what.length, 500);
    for (let index = 0; index < 2100; index += 1) timeline.add(`v${index}`, 'admitted');
    assert.deepEqual(timeline.entries('u1'), []);
    assert.equal(timeline.entries('v2099').length, 1);
  });
});

test('a wait is as old as its reason, whatever its message', () => {
  const clock = { nowMs: 1000, now: () => clock.nowMs };
  const times = new WaitTimes(clock);
  const waits = (reason: string, message: string) => ({ waits: new Map([['c', wait(reason, message)]]) });
  times.update('u1', { ...waits('CrashLoopBackOff', 'back-off 10s'), wait: wait('X') });
  clock.nowMs = 2000;
  times.update('u1', waits('CrashLoopBackOff', 'back-off 20s'));
  assert.deepEqual([...times.of('u1')], [['c', 1000]]);
  times.update('u1', waits('ErrImagePull', ''));
  assert.deepEqual([...times.of('u1')], [['c', 2000]]);
  times.update('u1', { waits: new Map() });
  assert.deepEqual([...times.of('u1')], []);
});

describe('the routes', () => {
  const one = explain({}, { timeline: [{ atMs: nowMs, sinceMs: nowMs, what: 'admitted', count: 1 }] });
  const fullDisk = { what: 'disk of the root folder', found: '0 B free', advice: 'make room there' };
  const pressure = { condition: 'DiskPressure', since: '2026-01-01T00:00:00Z', found: 'little is free' };
  const ofOne = { pod: 'default/web', message: 'manifest web.yaml is invalid: line 1' };
  const ofNone = { message: 'manifest db.yaml is invalid: line 2' };
  const explainer = {
    list: () => [one],
    find: (namespace: string, name: string) => (namespace === 'default' && name === 'web' ? one : undefined),
    whyMissing: () => 'the API has not been heard yet',
    fullDisks: async () => [fullDisk],
    pressures: () => [pressure],
    refusedManifests: () => [ofOne, ofNone],
  };

  test('are authorized as the pods of the node', () => {
    const routes = explainRoutes(explainer).map(({ path, subresource }) => [path, subresource]);
    assert.deepEqual(routes, [
      ['/pods/explain', 'pods'],
      ['/pods/explain/:namespace/:pod', 'pods'],
    ]);
  });

  for (const [path, params, expected] of [
    ['/pods/explain', {}, 'list'],
    ['/pods/explain/:namespace/:pod', { namespace: 'default', pod: 'web' }, 'one'],
    ['/pods/explain/:namespace/:pod', { namespace: 'default', pod: 'db' }, 404],
  ] as const)
    test(`${path} of ${JSON.stringify(params)}: ${expected}`, async () => {
      const sent: unknown[] = [];
      const reply = {
        code: () => reply,
        header: () => reply,
        type: () => reply,
        send(body: unknown) {
          sent.push(body);
          return reply;
        },
      };
      const answer = async () => {
        const { GET } = explainRoutes(explainer).find((each) => each.path === path)?.methods ?? {};
        assert.ok(typeof GET === 'function');
        return await GET({ params, reply } as unknown as Parameters<typeof GET>[0]); // what the routes use of a request
      };
      if (expected === 404) {
        await assert.rejects(
          answer,
          (error) =>
            error instanceof RefusedError && error.code === 404 && /not been heard/.test(error.message),
        );
        return;
      }
      await answer();
      const body: unknown = typeof sent[0] === 'string' ? JSON.parse(sent[0]) : sent[0];
      const { timeline: _timeline, ...listed } = one;
      assert.deepEqual(
        body,
        expected === 'one'
          ? { ...one, fullDisks: [fullDisk], pressures: [pressure], refusedManifests: [ofOne] }
          : { items: [listed], refusedManifests: [ofOne, ofNone], pressures: [pressure] },
      );
    });

  test('tell who looks for a pod of a manifest how it is called, or which manifest is not used', async () => {
    const ofManifest = { ...one, origin: 'file' as const, name: 'web-n1' };
    const ask = async (pod: string) => {
      const known = { ...explainer, list: () => [ofManifest], whyMissing: () => undefined };
      const { GET } = explainRoutes(known)[1]?.methods ?? {};
      assert.ok(typeof GET === 'function');
      const request = { params: { namespace: 'default', pod } };
      await GET(request as unknown as Parameters<typeof GET>[0]); // what the route uses of a request
    };
    await assert.rejects(ask('db'), /is gone\. Not every manifest is used: manifest web\.yaml is invalid/);
    await assert.rejects(ask('we'), /is gone/);
    explainer.find = () => undefined;
    await assert.rejects(ask('web'), /: the pod of the manifest is called default\/web-n1 here$/);
  });
});
