import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findContainers } from '../../../../../src/agent/pods/plan/containers.ts';
import type { ContainerRecord } from '../../../../../src/agent/pods/plan/index.ts';
import { backoffKey, formatWait, planPod } from '../../../../../src/agent/pods/plan/index.ts';
import type { Given } from './support.ts';
import { ago, container, exited, inputOf, later, nowMs, pod, running, table } from './support.ts';

const key = backoffKey(container('web'));
/** The container ended `endedAgo` seconds ago, and its last restart was `sinceAgo` seconds ago. */
const waits = (
  waitSeconds: number,
  endedAgo: number,
  sinceAgo = endedAgo + 1,
  more: Partial<ContainerRecord> = {},
): Given => ({
  containers: [exited('web', 1, 1, { finishedMs: ago(endedAgo) })],
  known: { web: { backoff: { key, waitMs: waitSeconds * 1000, sinceMs: ago(sinceAgo) }, ...more } },
});
const back = (wait: string) =>
  `CrashLoopBackOff: back-off ${wait} restarting failed container=web pod=pod_ns(uid)`;

table('CrashLoopBackOff', [
  [
    'the first end is followed at once',
    { containers: [exited('web', 1, 0, { finishedMs: nowMs })] },
    ['start web#1'],
  ],
  [
    'a clean end counts the same',
    { ...waits(10, 0), containers: [exited('web', 0, 1, { finishedMs: nowMs })] },
    { steps: [], waits: { web: back('10s') } },
  ],
  ['the second waits 10 s', waits(10, 0), { steps: [], waits: { web: back('10s') }, wakeMs: later(10) }],
  ['… from its end on', waits(10, 4), { steps: [], wakeMs: later(6) }],
  ['… and is over then', waits(10, 10), ['start web#2']],
  ['the third 20 s', waits(20, 5), { steps: [], waits: { web: back('20s') }, wakeMs: later(15) }],
  ['40 s', waits(40, 0), { waits: { web: back('40s') } }],
  ['80 s is written with minutes', waits(80, 0), { waits: { web: back('1m20s') } }],
  ['160 s', waits(160, 0), { waits: { web: back('2m40s') } }],
  ['at most 5 minutes', waits(300, 0), { waits: { web: back('5m0s') }, wakeMs: later(300) }],
  ['a run of more than 10 minutes begins again', waits(300, 0, 601), ['start web#2']],
  ['a run of 10 minutes does not', waits(300, 0, 600), []],
  [
    'a lower maximum begins again earlier',
    { ...waits(20, 0, 41), settings: { maxRestartWaitMs: 20_000 } },
    ['start web#2'],
  ],
  [
    'another image begins again',
    { ...waits(40, 0), pod: pod({ regular: [container('web', { image: 'app:2' })] }) },
    ['start web#2'],
  ],
  [
    'other resources begin again',
    { ...waits(40, 0), pod: pod({ regular: [container('web', { resources: { limits: { cpu: '1' } } })] }) },
    ['start web#2'],
  ],
  [
    'the same end is not waited for twice',
    waits(40, 5, 2, { backoff: { key, waitMs: 40_000, sinceMs: ago(2), afterId: 'web-1' } }),
    ['start web#2'],
  ],
  [
    'an end without a time is followed at once',
    { ...waits(40, 0), containers: [exited('web', 1, 1, { finishedMs: undefined })] },
    ['start web#2'],
  ],
  ['an end in the future: the clock was set back', waits(40, -3600), ['start web#2']],
  [
    'init containers wait too',
    { pod: pod({ init: [container('web')], regular: [container('main')] }), ...waits(10, 0) },
    { steps: [], waits: { web: back('10s'), main: 'PodInitializing: ' } },
  ],
  [
    'others of the pod go on',
    { ...waits(10, 0), pod: pod({ regular: [container('web'), container('b')] }) },
    ['start b#0'],
  ],
  ['its image is not asked for before', waits(10, 0), { images: [] }],
  ['its image is asked for then', waits(10, 10), { images: ['web#2'] }],
  [
    'it holds after the sandbox was replaced',
    { ...waits(10, 0), sandboxes: [], images: {} },
    { waits: { web: back('10s') } },
  ],
  [
    'a running container has no wait',
    { ...waits(10, 0), containers: [running('web', 2)] },
    { waits: { web: '' } },
  ],
]);

describe('the next wait', () => {
  const nextWait = (given: Given): number | undefined => {
    const step = planPod(inputOf(given)).steps.find(({ kind }) => kind === 'start');
    assert.ok(step?.kind === 'start');
    return step.backoff?.waitMs;
  };

  it('is none at the first start', () => assert.equal(nextWait({}), undefined));
  it('is 10 s after the first end', () => assert.equal(nextWait({ containers: [exited('web', 1)] }), 10_000));
  it('is doubled', () => assert.equal(nextWait(waits(10, 10)), 20_000));
  it('is doubled again', () => assert.equal(nextWait(waits(80, 80)), 160_000));
  it('is 5 minutes at most', () => assert.equal(nextWait(waits(160, 200)), 300_000));
  it('stays at the maximum', () => assert.equal(nextWait(waits(300, 301)), 300_000));
  it('is 10 s again after a long run', () => assert.equal(nextWait(waits(300, 0, 601)), 10_000));
  it('is 10 s again for another image', () => {
    const changed = pod({ regular: [container('web', { image: 'app:2' })] });
    assert.equal(nextWait({ ...waits(160, 200), pod: changed }), 10_000);
  });
  it('is no longer than a low maximum', () => {
    const settings = { maxRestartWaitMs: 3000 };
    assert.equal(nextWait({ containers: [exited('web', 1)], settings }), 3000);
  });
  it('is the same for the same end', () => {
    const backoff = { key, waitMs: 40_000, sinceMs: ago(2), afterId: 'web-1' };
    assert.equal(nextWait(waits(40, 5, 2, { backoff })), 40_000);
  });
  it('names the end that it follows', () => {
    const [step] = planPod(inputOf(waits(10, 10))).steps;
    assert.ok(step?.kind === 'start');
    assert.equal(step.backoff?.afterId, 'web-1');
  });
});

describe('the key of a back-off', () => {
  const keyOf = (more: Parameters<typeof container>[1]) => {
    const [found] = findContainers(inputOf({ pod: pod({ regular: [container('web', more)] }) }));
    assert.ok(found);
    return backoffKey(found.spec);
  };

  it('is the same for the same container', () => assert.equal(keyOf({}), key));
  it('knows the image', () => assert.notEqual(keyOf({ image: 'app:2' }), key));
  it('knows the resources', () => assert.notEqual(keyOf({ resources: { limits: { cpu: '1' } } }), key));
  it('does not know the command', () => assert.equal(keyOf({ command: ['sh'] }), key));
});

describe('how waits are written', () => {
  const texts: readonly [number, string][] = [
    [1000, '1s'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [80_000, '1m20s'],
    [300_000, '5m0s'],
  ];
  for (const [ms, text] of texts) it(text, () => assert.equal(formatWait(ms), text));
});
