import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ContainerConfigError } from '../../../../src/agent/containers/index.ts';
import { expandReferences } from '../../../../src/agent/downward/index.ts';
import { environmentOf } from './given.ts';
import type { ContainerSpec, Spec } from './sample.ts';
import { node, samplePod } from './sample.ts';

type Variables = NonNullable<ContainerSpec['env']>;
type Source = NonNullable<Variables[number]['valueFrom']>;

describe('references in a text', () => {
  const values = new Map([
    ['A', 'one'],
    ['B', '$(A)'],
    ['EMPTY', ''],
    ['a.b', 'dots'],
  ]);
  const cases: [text: string, expanded: string][] = [
    ['', ''],
    ['plain', 'plain'],
    ['$(A)', 'one'],
    ['$(A)$(A)-$(A)', 'oneone-one'],
    ['$(B)', '$(A)'],
    ['[$(EMPTY)]', '[]'],
    ['$(a.b)', 'dots'],
    ['$(NONE)', '$(NONE)'],
    ['$()', '$()'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$one'],
    ['$$$$(A)', '$$(A)'],
    ['$A $-A $', '$A $-A $'],
    ['$(A $$(A', '$(A $(A'],
    ['$(A', '$(A'],
    ['$(A $(A)', '$(A $(A)'],
    ['$($(A))', '$($(A))'],
    ['a$$b', 'a$b'],
  ];
  for (const [text, expanded] of cases) {
    test(JSON.stringify(text), () => assert.equal(expandReferences(text, values), expanded));
  }

  test('a long text takes no longer than its length', () => {
    assert.equal(expandReferences('$('.repeat(100_000), values).length, 200_000);
  });
});

async function resolve(env: Variables, spec: Partial<Spec> = {}, container: Partial<ContainerSpec> = {}) {
  const pod = samplePod(spec, { env, ...container });
  pod.metadata = { ...pod.metadata, labels: { app: 'web', 'a.b/c': 'd' }, annotations: { note: 'n' } };
  return await environmentOf(pod);
}

const from = (valueFrom: Source): Variables => [{ name: 'X', valueFrom }];

describe('the environment of a container', () => {
  test('is in the order of the spec, and refers to what stands before', async () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)$(C)' },
      { name: 'C', value: '$(B)' },
      { name: 'EMPTY' },
    ];
    assert.deepEqual(await resolve(env), ['A=1', 'B=1$(C)', 'C=1$(C)', 'EMPTY=']);
  });

  test('a name that appears twice has its last value, which may refer to the first', async () => {
    const env = [
      { name: 'PATH', value: '/bin' },
      { name: 'PATH', value: '$(PATH):/opt' },
    ];
    assert.deepEqual(await resolve(env), ['PATH=/bin:/opt']);
  });

  test('a value from elsewhere is not expanded', async () => {
    const pod = samplePod(
      {},
      { env: [{ name: 'A', value: '1' }, ...from({ fieldRef: { fieldPath: "metadata.annotations['x']" } })] },
    );
    pod.metadata = { ...pod.metadata, annotations: { x: '$(A)' } };
    assert.deepEqual(await environmentOf(pod), ['A=1', 'X=$(A)']);
  });

  const fields: [path: string, value: string][] = [
    ['metadata.name', 'web'],
    ['metadata.namespace', 'shop'],
    ['metadata.uid', '7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11'],
    ["metadata.labels['app']", 'web'],
    ["metadata.labels['a.b/c']", 'd'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['note']", 'n'],
    ['spec.nodeName', 'node-1'],
    ['spec.serviceAccountName', 'robot'],
    ['status.hostIP', '192.0.2.10'],
    ['status.hostIPs', '192.0.2.10,2001:db8::10'],
    ['status.podIP', '10.1.0.4'],
    ['status.podIPs', '10.1.0.4,fd00::4'],
  ];
  for (const [fieldPath, value] of fields) {
    test(`${fieldPath} is ${JSON.stringify(value)}`, async () => {
      const spec = { nodeName: 'node-1', serviceAccountName: 'robot' };
      assert.deepEqual(await resolve(from({ fieldRef: { fieldPath } }), spec), [`X=${value}`]);
    });
  }

  test('with the network of the host the pod has its addresses', async () => {
    const pod = samplePod({ hostNetwork: true }, { env: from({ fieldRef: { fieldPath: 'status.podIP' } }) });
    assert.deepEqual(await environmentOf(pod, { facts: { node, podIps: [] } }), ['X=192.0.2.10']);
  });

  const resources = { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '1500m', memory: '100M' } };
  const amounts: [resource: string, divisor: string | undefined, value: string, resources: object][] = [
    ['limits.cpu', undefined, '2', resources],
    ['limits.cpu', '0', '2', resources],
    ['limits.cpu', '1m', '1500', resources],
    ['requests.cpu', '1', '1', resources],
    ['requests.cpu', '1m', '250', resources],
    ['requests.memory', '1Mi', '64', resources],
    ['limits.memory', undefined, '100000000', resources],
    ['limits.memory', '1Mi', '96', resources],
    ['limits.cpu', undefined, '4', {}],
    ['limits.cpu', '1m', '3800', {}],
    ['limits.memory', '1Gi', '7', {}],
    ['limits.ephemeral-storage', '1Gi', '40', {}],
    ['requests.cpu', undefined, '0', {}],
    ['limits.hugepages-2Mi', undefined, '0', {}],
  ];
  for (const [resource, divisor, value, own] of amounts) {
    test(`${resource} by ${divisor} of ${JSON.stringify(own)} is ${value}`, async () => {
      const ref = divisor === undefined ? { resource } : { resource, divisor };
      assert.deepEqual(await resolve(from({ resourceFieldRef: ref }), {}, { resources: own }), [
        `X=${value}`,
      ]);
    });
  }

  test('a limit of the whole pod goes before what the node can give, and another container can be named', async () => {
    const env = [
      ...from({ resourceFieldRef: { resource: 'limits.cpu' } }),
      { name: 'Y', valueFrom: { resourceFieldRef: { resource: 'limits.memory', containerName: 'i' } } },
    ];
    const spec = {
      resources: { limits: { cpu: '3' } },
      initContainers: [{ name: 'i', image: 'i', resources: { limits: { memory: '5' } } }],
    };
    const pod = samplePod(spec, { env });
    assert.deepEqual(await environmentOf(pod), ['X=3', 'Y=5']);
  });

  const refused: [name: string, container: Partial<ContainerSpec>, message: RegExp][] = [
    [
      'an unknown field',
      { env: from({ fieldRef: { fieldPath: 'spec.x' } }) },
      /^unsupported fieldPath: spec.x$/,
    ],
    [
      'an unknown resource',
      { env: from({ resourceFieldRef: { resource: 'limits.gpu' } }) },
      /^unsupported container resource : limits.gpu$/,
    ],
    [
      'a resource of an unknown container',
      { env: from({ resourceFieldRef: { resource: 'limits.cpu', containerName: 'x' } }) },
      /^the pod has no container "x"$/,
    ],
  ];
  for (const [name, container, message] of refused) {
    test(`${name} cannot be had`, async () => {
      await assert.rejects(
        environmentOf(samplePod({}, container)),
        (error: unknown) => error instanceof ContainerConfigError && message.test(error.message),
      );
    });
  }
});
