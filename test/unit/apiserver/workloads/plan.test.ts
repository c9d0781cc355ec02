/** The next step of a Deployment, as a table: what each of its ReplicaSets is to have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Deployment, DeploymentSpec, Pod, ReplicaSet } from '../../../../src/api/index.ts';
import { explainWaiting } from '../../../../src/apiserver/workloads/deployments/explain-waiting.ts';
import { planDeployment } from '../../../../src/apiserver/workloads/deployments/plan.ts';
import { withSize } from '../../../../src/apiserver/workloads/deployments/revisions.ts';
import type { SetFacts } from '../../../../src/apiserver/workloads/deployments/sets.ts';
import { factsOf, limitsOf } from '../../../../src/apiserver/workloads/deployments/sets.ts';
import { hashOf } from '../../../../src/apiserver/workloads/template-hash.ts';

const template = { metadata: {}, spec: { containers: [{ name: 'main', image: 'new' }] } };

function deployment(
  replicas: number,
  surge: number | string,
  unavailable: number | string,
  more = {},
): Deployment {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } };
  return { metadata: { name: 'web' }, spec: { replicas, selector: {}, template, strategy, ...more } };
}

/** Wanted, pods that stay, available ones. */
type Counts = readonly [replicas: number, active: number, available: number];

function facts(name: string, [replicas, active, available]: Counts, annotations = {}): SetFacts {
  const set: ReplicaSet = {
    metadata: { name, annotations: { 'deployment.kubernetes.io/revision': '1', ...annotations } },
    spec: { replicas, selector: {}, template },
  };
  return { set, replicas, active, available, unended: active };
}

/** The sizes that change, the new one's first: `2 | 3 0`. */
function next(
  wanted: Deployment,
  current: Counts | undefined,
  old: readonly Counts[],
  annotations = {},
): string {
  const sized = { ...withSize(wanted, {}), ...annotations };
  const now = current && facts('new', current, { ...sized, 'deployment.kubernetes.io/revision': '9' });
  const others = old.map((each, index) => facts(`old-${index}`, each, sized));
  const plan = planDeployment(wanted, { current: now, old: others });
  const sizeOf = (each: SetFacts) =>
    plan.changes.find((change) => change.facts === each)?.replicas ?? each.replicas;
  const first = now === undefined ? `create ${plan.create ?? 'none'}` : sizeOf(now);
  return `${first} | ${others.map(sizeOf).join(' ')}`.trim();
}

describe('the next step', () => {
  const steps: [string, Deployment, Counts | undefined, Counts[], string][] = [
    ['makes all pods of the first revision', deployment(4, 1, 1), undefined, [], 'create 4 |'],
    ['makes only the pods that may be too many', deployment(4, 1, 1), undefined, [[4, 4, 4]], 'create 1 | 4'],
    ['makes none where none may be too many', deployment(4, 0, 1), undefined, [[4, 4, 4]], 'create 0 | 4'],
    ['then takes those that can be spared', deployment(4, 0, 1), [0, 0, 0], [[4, 4, 4]], '0 | 3'],
    [
      'waits for a pod that is to go and is there still',
      deployment(4, 0, 1),
      [0, 0, 0],
      [[3, 4, 3]],
      '0 | 3',
    ],
    ['makes its successor when it is gone', deployment(4, 0, 1), [0, 0, 0], [[3, 3, 3]], '1 | 3'],
    [
      'spares none while the new ones are not available',
      deployment(4, 0, 1),
      [1, 1, 0],
      [[3, 3, 3]],
      '1 | 3',
    ],
    ['goes on when they are', deployment(4, 0, 1), [1, 1, 1], [[3, 3, 3]], '1 | 2'],
    [
      'takes what is not available first',
      deployment(4, 1, 1),
      [1, 1, 0],
      [
        [2, 2, 0],
        [2, 2, 2],
      ],
      '1 | 1 2',
    ],
    [
      'takes more of what is not available',
      deployment(4, 1, 2),
      [1, 1, 1],
      [
        [2, 2, 0],
        [2, 2, 2],
      ],
      '1 | 0 1',
    ],
    [
      'takes the oldest first',
      deployment(4, 1, 2),
      [1, 1, 1],
      [
        [2, 2, 2],
        [2, 2, 2],
      ],
      '1 | 0 1',
    ],
    ['has enough', deployment(4, 1, 1), [4, 4, 4], [[0, 0, 0]], '4 | 0'],
    ['takes the last old one', deployment(1, 1, 0), [1, 1, 1], [[1, 1, 1]], '1 | 0'],
    ['makes no more than wanted', deployment(2, 5, 0), [1, 1, 1], [[1, 1, 1]], '2 | 1'],
    ['takes back what its own has too much', deployment(2, 1, 0), [3, 3, 3], [[1, 1, 1]], '2 | 1'],
    ['rounds up what may be too many', deployment(5, '25%', '25%'), undefined, [[5, 5, 5]], 'create 2 | 5'],
    ['rounds down what may be missing', deployment(5, '0%', '25%'), [0, 0, 0], [[5, 5, 5]], '0 | 4'],
    [
      'replaces one where both are rounded to none',
      deployment(3, '0%', '25%'),
      [0, 0, 0],
      [[3, 3, 3]],
      '0 | 2',
    ],
  ];
  for (const [name, wanted, current, old, expected] of steps) {
    test(name, () => assert.equal(next(wanted, current, old), expected));
  }

  const recreate = (replicas: number) => ({
    ...deployment(replicas, 0, 0),
    spec: { replicas, selector: {}, template, strategy: { type: 'Recreate' } } satisfies DeploymentSpec,
  });
  test('with Recreate takes all old ones, waits for them, and then makes all', () => {
    assert.equal(next(recreate(3), undefined, [[3, 3, 3]]), 'create none | 0');
    assert.equal(next(recreate(3), undefined, [[0, 1, 0]]), 'create none | 0');
    assert.equal(next(recreate(3), undefined, [[0, 0, 0]]), 'create 3 | 0');
    assert.equal(next(recreate(3), [1, 1, 1], [[0, 1, 0]]), '1 | 0');
    assert.equal(next(recreate(3), [1, 1, 1], [[0, 0, 0]]), '3 | 0');
  });

  const before = (replicas: number, max: number) => ({
    'deployment.kubernetes.io/desired-replicas': `${replicas}`,
    'deployment.kubernetes.io/max-replicas': `${max}`,
  });
  test('shares another size out, the rest to the largest', () => {
    assert.equal(next(deployment(15, 3, 2), [5, 5, 5], [[8, 8, 8]], before(10, 13)), '7 | 11');
    assert.equal(next(deployment(5, 3, 2), [5, 5, 5], [[8, 8, 8]], before(10, 13)), '3 | 5');
    assert.equal(next(deployment(0, 3, 2), [5, 5, 5], [[8, 8, 8]], before(10, 13)), '0 | 0');
    assert.equal(next(deployment(7, 1, 1), [0, 0, 0], [[4, 4, 4]], before(4, 5)), '0 | 7');
    assert.equal(next(deployment(7, 1, 1), [4, 4, 4], [[0, 0, 0]], before(4, 5)), '7 | 0');
  });

  test('gives what rounding leaves over to the newest of equal ones', () => {
    assert.equal(
      next(
        deployment(4, 0, 1),
        [1, 1, 1],
        [
          [1, 1, 1],
          [1, 1, 1],
        ],
        before(3, 3),
      ),
      '2 | 1 1',
    );
  });

  test('while it is paused is none, but for another size', () => {
    const paused = { paused: true };
    assert.equal(next(deployment(4, 1, 1, paused), undefined, [[4, 4, 4]]), 'create none | 4');
    assert.equal(next(deployment(6, 1, 1, paused), undefined, [[4, 4, 4]], before(4, 5)), 'create none | 6');
  });

  test('of one that is being deleted is none', () => {
    const going = {
      ...deployment(4, 1, 1),
      metadata: { name: 'web', deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    assert.equal(next(going, [1, 1, 1], [[4, 4, 4]]), '1 | 4');
  });

  test('keeps its revisions while it is under way', () => {
    const wanted = deployment(1, 1, 0, { revisionHistoryLimit: 0 });
    const remove = (current: Counts, old: Counts) =>
      planDeployment(wanted, {
        current: facts('new', current, withSize(wanted, {})),
        old: [facts('old', old)],
      }).remove;
    assert.deepEqual(remove([1, 1, 0], [0, 0, 0]), []);
    assert.deepEqual(remove([1, 1, 1], [0, 1, 0]), []);
    assert.equal(remove([1, 1, 1], [0, 0, 0]).length, 1);
  });
});

test('pods that are too many are not counted as available: they are about to go', () => {
  const set: ReplicaSet = { spec: { replicas: 2, selector: {} } };
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const going = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: ready };
  const pods: Pod[] = [
    { status: ready },
    { status: ready },
    { status: ready },
    going,
    { status: { phase: 'Failed' } },
  ];
  const { replicas, active, unended, available } = factsOf(set, pods, 0);
  assert.deepEqual([replicas, active, unended, available], [2, 3, 4, 2]);
});

test('at most as many are missing as there are', () => {
  assert.deepEqual(limitsOf(deployment(1, 0, 3)), { maxSurge: 0, maxUnavailable: 1 });
  assert.deepEqual(limitsOf(deployment(0, 0, 0)), { maxSurge: 0, maxUnavailable: 0 });
});

test('a hash is of the fields, not of their order, and another after a collision', () => {
  const one = hashOf({ a: 1, b: [{ c: 2, d: 3 }] }, undefined);
  assert.equal(hashOf({ b: [{ d: 3, c: 2 }], a: 1 }, undefined), one);
  assert.notEqual(hashOf({ a: 1, b: [{ c: 2, d: 4 }] }, undefined), one);
  assert.notEqual(hashOf({ a: 1, b: [{ c: 2, d: 3 }] }, 1), one);
});

describe('what a pod waits for', () => {
  const container = { name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0 };
  const explain = (status: object, spec: object = { nodeName: 'node' }) =>
    explainWaiting([{ metadata: { name: 'web-1' }, spec: { containers: [], ...spec }, status }]);
  const cases: [string, object, string][] = [
    [
      'a node',
      { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/2 nodes are available' }] },
      'Pod "web-1": not scheduled: 0/2 nodes are available',
    ],
    [
      'a container that ends again and again',
      {
        containerStatuses: [
          {
            ...container,
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
            lastState: { terminated: { exitCode: 3, reason: 'Error' } },
          },
        ],
      },
      'Pod "web-1": container "main" waits: CrashLoopBackOff: back-off 10s: ended with exit code 3 (Error)',
    ],
    [
      'an init container',
      {
        initContainerStatuses: [
          { ...container, name: 'init', state: { waiting: { reason: 'ErrImagePull' } } },
        ],
        containerStatuses: [{ ...container, state: { waiting: { reason: 'PodInitializing' } } }],
      },
      'Pod "web-1": container "init" waits: ErrImagePull',
    ],
    [
      'its readiness',
      { containerStatuses: [{ ...container, started: true, state: { running: {} } }] },
      'Pod "web-1": container "main" is not ready',
    ],
    [
      'nothing known',
      { containerStatuses: [{ ...container, state: { waiting: { reason: 'ContainerCreating' } } }] },
      '',
    ],
    ['nothing, when it is ready', { conditions: [{ type: 'Ready', status: 'True' }] }, ''],
  ];
  for (const [name, status, expected] of cases) test(name, () => assert.equal(explain(status), expected));

  test('no node, and nobody says why', () => assert.equal(explain({}, {}), 'Pod "web-1": no node'));
  test('is bounded', () => {
    const message = 'x'.repeat(1000);
    const status = { conditions: [{ type: 'PodScheduled', status: 'False', message }] };
    assert.equal(explain(status).length, 300);
  });
});
