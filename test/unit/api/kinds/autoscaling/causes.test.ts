import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { horizontalPodAutoscalerKind } from '../../../../../src/api/kinds/autoscaling/autoscaler.ts';
import type { HorizontalPodAutoscaler } from '../../../../../src/api/kinds/autoscaling/v2-description.ts';

/*
 * What an autoscaler scales and measures, in the reference's words where that is wrong.
 */

type Any = Record<string, unknown>;

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

function autoscaler(spec: Any): HorizontalPodAutoscaler {
  const object = { metadata: { name: 'one' }, spec: { scaleTargetRef, maxReplicas: 3, ...spec } };
  return horizontalPodAutoscalerKind.default(object as unknown as HorizontalPodAutoscaler);
}

function causes(spec: Any, old?: Any): string[] {
  const before = old === undefined ? undefined : autoscaler(old);
  return horizontalPodAutoscalerKind
    .validate(autoscaler(spec), before)
    .map(({ field, message }) => `${field}: ${message}`);
}

const metric = (type: string, source: Any) => {
  const name = type.slice(0, 1).toLowerCase() + type.slice(1);
  return causes({ metrics: [{ type, [name]: source }] }).map((cause) =>
    cause.replace(`spec.metrics[0].${name}.`, ''),
  );
};

describe('what is scaled', () => {
  const lacking = 'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group';
  const old = { scaleTargetRef: { ...scaleTargetRef, apiVersion: 'v1' } };

  test('is of a group, but for the ReplicationController', () => {
    assert.deepEqual(causes(old), [lacking]);
    assert.deepEqual(
      causes({ scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'a' } }),
      [],
    );
  });

  test('was stored without one, and may stay so', () => assert.deepEqual(causes(old, old), []));

  test('has a greatest number', () =>
    assert.ok(
      causes({ maxReplicas: 0 }).includes('spec.maxReplicas: Required value: must be set and greater than 0'),
    ));
});

describe('what is measured', () => {
  const rows: readonly (readonly [what: string, type: string, source: Any, said: readonly string[]])[] = [
    [
      'of a resource has a name and one target',
      'Resource',
      { name: '', target: { type: 'Utilization', averageUtilization: 0, averageValue: '0' } },
      [
        'name: Required value: must specify a resource name',
        'target.averageValue: Invalid value: "0": must be positive',
        'target.averageUtilization: Invalid value: 0: must be greater than 0',
        'target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
      ],
    ],
    [
      'of a container has its name',
      'ContainerResource',
      { name: 'cpu', container: '', target: { type: 'Value', value: '1' } },
      [
        'container: Required value: must specify a container',
        'target.averageUtilization: Required value: must set either a target raw value or a target utilization',
      ],
    ],
    [
      'of the pods is an average',
      'Pods',
      { metric: { name: 'a/b' }, target: { type: 'Value', value: '1' } },
      [
        `metric.name: Invalid value: "a/b": may not contain '/'`,
        'target.averageValue: Required value: must specify a positive target averageValue',
      ],
    ],
    [
      'of an object has that object',
      'Object',
      { metric: { name: '' }, describedObject: { kind: '', name: 'a' }, target: { type: '' } },
      [
        'describedObject.kind: Required value',
        'metric.name: Required value: must specify a metric name',
        'target.type: Required value: must specify a metric target type',
        'target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
        'target.averageValue: Required value: must set either a target value or averageValue',
      ],
    ],
    [
      'from outside has one target',
      'External',
      { metric: { name: 'queue' }, target: { type: 'Value', value: '1', averageValue: '1' } },
      ['target.value: Forbidden: may not set both a target value for metric and a per-pod target'],
    ],
  ];
  for (const [what, type, source, said] of rows)
    test(what, () => assert.deepEqual(metric(type, source), said));
});
