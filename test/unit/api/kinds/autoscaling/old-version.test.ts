/** Autoscalers of version 1 and of version 2 are the same objects. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { horizontalPodAutoscalerKind } from '../../../../../src/api/kinds/autoscaling/autoscaler.ts';
import { horizontalPodAutoscalerV1Kind } from '../../../../../src/api/kinds/autoscaling/autoscaler-v1.ts';
import type { HorizontalPodAutoscaler as OldAutoscaler } from '../../../../../src/api/kinds/autoscaling/v1-description.ts';
import { fromStored, toStored } from '../../../../../src/api/kinds/autoscaling/v1-view.ts';
import type { HorizontalPodAutoscaler } from '../../../../../src/api/kinds/autoscaling/v2-description.ts';
import { startServer } from '../../../apiserver/support/index.ts';
import { causesOf, received } from '../causes-of.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const prefix = 'autoscaling.alpha.kubernetes.io';
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const everyMetric = [
  cpu(70),
  { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  {
    type: 'ContainerResource',
    containerResource: {
      name: 'cpu',
      container: 'app',
      target: { type: 'Utilization', averageUtilization: 60 },
    },
  },
  {
    type: 'Pods',
    pods: {
      metric: { name: 'hits', selector: { matchLabels: { a: 'b' } } },
      target: { type: 'AverageValue', averageValue: '10' },
    },
  },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Service', name: 'web' },
      metric: { name: 'hits' },
      target: { type: 'Value', value: '5' },
    },
  },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Service', name: 'web' },
      metric: { name: 'hits' },
      target: { type: 'AverageValue', averageValue: '5' },
    },
  },
  {
    type: 'External',
    external: { metric: { name: 'queue', selector: {} }, target: { type: 'Value', value: '30' } },
  },
];
const behavior = { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } };
const conditions = [
  { type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: 'Ready' },
];
const currentMetrics = [
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 42, averageValue: '420m' } } },
  { type: 'Pods', pods: { metric: { name: 'hits' }, current: { averageValue: '7' } } },
];

describe('what version 1 has no fields for', () => {
  test('is in annotations, and comes back as it was', () => {
    const stored: HorizontalPodAutoscaler = {
      metadata: { name: 'web', annotations: { mine: 'kept' } },
      spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 9, metrics: everyMetric, behavior },
      status: { currentReplicas: 3, desiredReplicas: 4, currentMetrics, conditions },
    };
    const old = fromStored(stored);
    assert.equal(old.spec?.targetCPUUtilizationPercentage, 70);
    assert.equal(old.status?.currentCPUUtilizationPercentage, 42);
    const { annotations = {} } = old.metadata ?? {};
    assert.deepEqual(Object.keys(annotations).sort(), [
      ...['behavior', 'conditions', 'current-metrics', 'metrics'].map((name) => `${prefix}/${name}`),
      'mine',
    ]);
    const [memory] = JSON.parse(annotations[`${prefix}/metrics`] ?? '');
    assert.deepEqual(memory, { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } });
    const [used] = JSON.parse(annotations[`${prefix}/current-metrics`] ?? '');
    assert.deepEqual(used.resource, {
      name: 'cpu',
      currentAverageValue: '420m',
      currentAverageUtilization: 42,
    });
    assert.deepEqual(toStored(old), stored);
  });

  test('comes back whichever of the metrics there are', () => {
    const property = fc.property(fc.subarray(everyMetric), fc.boolean(), (some, hasBehavior) => {
      const spec = { scaleTargetRef, maxReplicas: 9, ...(some.length === 0 ? {} : { metrics: some }) };
      const stored = { metadata: { name: 'web' }, spec: { ...spec, ...(hasBehavior ? { behavior } : {}) } };
      assert.deepEqual(toStored(fromStored(stored)), stored);
    });
    fc.assert(property);
  });

  test('is refused where it cannot be read', () => {
    for (const text of ['no JSON', '{}', '[1]', '[{"type":7}]']) {
      const sent = {
        metadata: { annotations: { [`${prefix}/metrics`]: text } },
        spec: { scaleTargetRef, maxReplicas: 2 },
      };
      const [first = ''] = causesOf(horizontalPodAutoscalerV1Kind, sent);
      assert.ok(
        first.startsWith(`metadata.annotations[${prefix}/metrics]: Invalid value`),
        `${text}: ${first}`,
      );
    }
  });
});

test('the rules of version 2 hold, for the fields of version 1', () => {
  const sent = {
    spec: { scaleTargetRef, minReplicas: 3, maxReplicas: 2, targetCPUUtilizationPercentage: 0 },
  };
  assert.deepEqual(causesOf(horizontalPodAutoscalerV1Kind, sent), [
    'spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`',
    'spec.targetCPUUtilizationPercentage: Invalid value: 0: must be greater than 0',
  ]);
});

test('without a metric, the use of CPU is kept at 80 percent in both', () => {
  const sent = { spec: { scaleTargetRef, maxReplicas: 2 } };
  assert.equal(received(horizontalPodAutoscalerV1Kind, sent).spec?.targetCPUUtilizationPercentage, 80);
  assert.deepEqual(received(horizontalPodAutoscalerKind, sent).spec?.metrics, [cpu(80)]);
});

describe('served', () => {
  const path = (version: string, rest = '') =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers${rest}`;

  async function ask(method: string, at: string, body?: object): Promise<string> {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    };
    const send = body === undefined ? {} : { headers, body: Buffer.from(JSON.stringify(body)) };
    const { code, text } = await admin.request(method, at, send);
    assert.ok(code < 300, text);
    return text;
  }
  async function readNew(name: string): Promise<HorizontalPodAutoscaler> {
    return JSON.parse(await ask('GET', path('v2', `/${name}`)));
  }
  async function readOld(name: string): Promise<OldAutoscaler> {
    return JSON.parse(await ask('GET', path('v1', `/${name}`)));
  }

  test('version 2 comes first, and an object of either is one of the other', async () => {
    assert.match(
      await ask('GET', '/apis/autoscaling'),
      /"preferredVersion":\{"groupVersion":"autoscaling\/v2"/,
    );
    await ask('POST', path('v1'), {
      metadata: { name: 'both' },
      spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 50 },
    });
    const made = await readNew('both');
    assert.deepEqual(made.spec?.metrics, [cpu(50)]);
    await ask('PATCH', path('v2', '/both'), { spec: { metrics: everyMetric } });
    const after = await readOld('both');
    assert.equal(after.spec?.targetCPUUtilizationPercentage, 70);
    assert.equal(after.metadata?.uid, made.metadata?.uid);
  });

  test('a client of version 1 changes the spec and keeps metrics, conditions and what was measured', async () => {
    await ask('POST', path('v2'), {
      metadata: { name: 'kept' },
      spec: { scaleTargetRef, maxReplicas: 5, metrics: everyMetric },
    });
    await ask('PATCH', path('v2', '/kept/status'), {
      status: { desiredReplicas: 2, conditions, currentMetrics },
    });
    const { metadata, spec } = await readOld('kept');
    const { [`${prefix}/conditions`]: _gone, ...annotations } = metadata?.annotations ?? {};
    await ask('PUT', path('v1', '/kept'), {
      metadata: { ...metadata, annotations: { ...annotations, [`${prefix}/current-metrics`]: '[]' } },
      spec: { ...spec, maxReplicas: 7 },
    });
    const now = await readNew('kept');
    assert.equal(now.spec?.maxReplicas, 7);
    assert.deepEqual(now.spec.metrics, everyMetric);
    assert.deepEqual(now.status?.conditions, conditions);
    assert.deepEqual(now.status?.currentMetrics, currentMetrics);
  });

  test('the status of version 1 says the use of CPU', async () => {
    await ask('PATCH', path('v1', '/kept/status'), { status: { currentCPUUtilizationPercentage: 66 } });
    assert.equal((await readOld('kept')).status?.currentCPUUtilizationPercentage, 66);
    const { status } = await readNew('kept');
    assert.equal(status?.currentMetrics?.[0]?.resource?.current?.averageUtilization, 66);
    assert.deepEqual(status.conditions, conditions);
  });
});
