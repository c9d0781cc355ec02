import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Change } from './support.ts';
import { admit, container, neighbour, podOf, requesting, summaryOf } from './support.ts';

type Case = readonly [what: string, pod: Pod, change: Change, expected: string];

function run(cases: readonly Case[]): void {
  for (const [what, pod, change, expected] of cases)
    test(what, () => assert.equal(summaryOf(admit(pod, change)), expected));
}

const affinityText =
  "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
const portsText =
  "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
const taintText =
  "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
const shortOf = (name: string, requested: number, used: number, capacity: number) =>
  `OutOf${name}: Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;

type Requirement = { key: string; operator: string; values?: string[] };

function withTerms(
  ...nodeSelectorTerms: { matchExpressions?: Requirement[]; matchFields?: Requirement[] }[]
): Pod {
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return podOf({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } });
}
const wanting = (key: string, operator: string, ...values: string[]) =>
  withTerms({ matchExpressions: [{ key, operator, values }] });

describe('room on the node', () => {
  const gib = 2 ** 30;
  run([
    ['a pod that requests nothing', podOf(), {}, 'ok'],
    ['all of the cpu', requesting({ cpu: '2' }), {}, 'ok'],
    ['too much cpu', requesting({ cpu: '2001m' }), {}, shortOf('cpu', 2001, 0, 2000)],
    [
      'cpu that others have',
      requesting({ cpu: '500m' }),
      { others: [neighbour('a', { cpu: '1800m' })] },
      shortOf('cpu', 500, 1800, 2000),
    ],
    [
      'fractions are rounded up',
      requesting({ cpu: '1999.5m' }),
      { others: [neighbour('a', { cpu: '1m' })] },
      shortOf('cpu', 2000, 1, 2000),
    ],
    ['too much memory', requesting({ memory: '2Gi' }), {}, shortOf('memory', 2 * gib, 0, gib)],
    [
      'cpu is named before memory',
      requesting({ cpu: '3', memory: '2Gi' }),
      {},
      shortOf('cpu', 3000, 0, 2000),
    ],
    [
      'too much storage',
      requesting({ 'ephemeral-storage': '11Gi' }),
      {},
      shortOf('ephemeral-storage', 11 * gib, 0, 10 * gib),
    ],
    [
      'too many pods',
      podOf(),
      { others: ['a', 'b', 'c', 'd'].map((name) => neighbour(name, {})) },
      shortOf('pods', 1, 4, 4),
    ],
    ['one less', podOf(), { others: ['a', 'b', 'c'].map((name) => neighbour(name, {})) }, 'ok'],
    ['a node that says no number of pods', podOf(), { node: { allocatable: {} } }, shortOf('pods', 1, 0, 0)],
    ['devices', requesting({ 'example.com/gpu': '2' }), {}, 'ok'],
    [
      'too many devices',
      requesting({ 'example.com/gpu': '2' }),
      { others: [neighbour('a', { 'example.com/gpu': '1' })] },
      shortOf('example.com/gpu', 2, 1, 2),
    ],
    [
      'devices that the node does not know are not counted',
      requesting({ 'example.com/fpga': '9' }),
      {},
      'ok',
    ],
    [
      'huge pages that the node does not have',
      requesting({ 'hugepages-2Mi': '2Mi' }),
      {},
      shortOf('hugepages-2Mi', 2 * 2 ** 20, 0, 0),
    ],
    ['zero of what is not there', requesting({ 'hugepages-2Mi': '0' }), {}, 'ok'],
    [
      'overhead counts',
      requesting({ cpu: '1900m' }, { overhead: { cpu: '200m' } }),
      {},
      shortOf('cpu', 2100, 0, 2000),
    ],
    [
      'containers add up',
      podOf({ containers: [container({ cpu: '1' }), container({ cpu: '1001m' })] }),
      {},
      shortOf('cpu', 2001, 0, 2000),
    ],
    [
      'init containers run alone',
      podOf({ initContainers: [container({ cpu: '2' })], containers: [container({ cpu: '2' })] }),
      {},
      'ok',
    ],
    [
      'the largest init container counts',
      podOf({ initContainers: [container({ cpu: '3' })] }),
      {},
      shortOf('cpu', 3000, 0, 2000),
    ],
    [
      'sidecars run beside the containers',
      podOf({
        initContainers: [container({ cpu: '1' }, { restartPolicy: 'Always' })],
        containers: [container({ cpu: '1500m' })],
      }),
      {},
      shortOf('cpu', 2500, 0, 2000),
    ],
    [
      'and beside the init containers after them',
      podOf({
        initContainers: [container({ cpu: '1' }, { restartPolicy: 'Always' }), container({ cpu: '1500m' })],
      }),
      {},
      shortOf('cpu', 2500, 0, 2000),
    ],
    [
      'but not beside those before',
      podOf({
        initContainers: [container({ cpu: '1500m' }), container({ cpu: '1' }, { restartPolicy: 'Always' })],
      }),
      {},
      'ok',
    ],
    [
      'requests of the pod go before those of its containers',
      requesting({ cpu: '1' }, { resources: { requests: { cpu: '3' } } }),
      {},
      shortOf('cpu', 3000, 0, 2000),
    ],
    ['and may be less', requesting({ cpu: '3' }, { resources: { requests: { cpu: '1' } } }), {}, 'ok'],
    [
      'a running pod counts with what it was given',
      requesting({ cpu: '1' }),
      { others: [neighbour('a', { cpu: '1' })] },
      'ok',
    ],
  ]);
});

describe('labels of the node', () => {
  run([
    ['a selector that matches', podOf({ nodeSelector: { zone: 'a', disk: 'ssd' } }), {}, 'ok'],
    ['a selector with another value', podOf({ nodeSelector: { zone: 'b' } }), {}, affinityText],
    ['a selector of a label that is missing', podOf({ nodeSelector: { rack: '1' } }), {}, affinityText],
    ['a name of an object is no label', podOf({ nodeSelector: { constructor: 'x' } }), {}, affinityText],
    ['In', wanting('zone', 'In', 'b', 'a'), {}, 'ok'],
    ['In without the value', wanting('zone', 'In', 'b'), {}, affinityText],
    ['NotIn', wanting('zone', 'NotIn', 'b'), {}, 'ok'],
    ['NotIn with the value', wanting('zone', 'NotIn', 'a'), {}, affinityText],
    ['NotIn for a label that is missing', wanting('rack', 'NotIn', 'a'), {}, 'ok'],
    ['Exists', wanting('zone', 'Exists'), {}, 'ok'],
    ['Exists for one that is missing', wanting('rack', 'Exists'), {}, affinityText],
    ['DoesNotExist', wanting('rack', 'DoesNotExist'), {}, 'ok'],
    ['DoesNotExist for one that is there', wanting('zone', 'DoesNotExist'), {}, affinityText],
    ['Gt', wanting('cores', 'Gt', '7'), {}, 'ok'],
    ['Gt with the same number', wanting('cores', 'Gt', '8'), {}, affinityText],
    ['Lt', wanting('cores', 'Lt', '9'), {}, 'ok'],
    ['Lt below zero', wanting('temperature', 'Lt', '0'), {}, 'ok'],
    ['Gt of a word', wanting('zone', 'Gt', '1'), {}, affinityText],
    ['an operator that is not known', wanting('zone', 'Like', 'a'), {}, affinityText],
    [
      'one of several terms',
      withTerms(
        { matchExpressions: [{ key: 'rack', operator: 'Exists' }] },
        { matchExpressions: [{ key: 'zone', operator: 'Exists' }] },
      ),
      {},
      'ok',
    ],
    [
      'all requirements of a term',
      withTerms({
        matchExpressions: [
          { key: 'zone', operator: 'Exists' },
          { key: 'rack', operator: 'Exists' },
        ],
      }),
      {},
      affinityText,
    ],
    ['an empty term matches nothing', withTerms({}), {}, affinityText],
    ['no terms match nothing', withTerms(), {}, affinityText],
    [
      'the name of the node',
      withTerms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }),
      {},
      'ok',
    ],
    [
      'the name of another',
      withTerms({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }),
      {},
      affinityText,
    ],
    [
      'another field',
      withTerms({ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['n1'] }] }),
      {},
      affinityText,
    ],
    [
      'a pod of another node',
      podOf({ nodeName: 'n2' }),
      {},
      "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
    ['a pod of this node', podOf({ nodeName: 'n1' }), {}, 'ok'],
    [
      'too little room is said first',
      requesting({ cpu: '3' }, { nodeSelector: { zone: 'b' } }),
      {},
      shortOf('cpu', 3000, 0, 2000),
    ],
  ]);

  test('only where the labels are the only reason, the Node is read again', () => {
    const wrongLabel = admit(podOf({ nodeSelector: { zone: 'b' } }));
    assert.equal(!wrongLabel.admitted && wrongLabel.retryWithFreshNode, true);
    for (const pod of [podOf({ nodeSelector: { zone: 'b' }, nodeName: 'n2' }), podOf({ nodeName: 'n2' })]) {
      const both = admit(pod);
      assert.equal(!both.admitted && both.retryWithFreshNode, undefined);
    }
  });
});

describe('ports of the node', () => {
  const using = (hostPort: number, more: object = {}, name = 'a') =>
    neighbour(
      name,
      {},
      { containers: [container({}, { ports: [{ containerPort: 80, hostPort, ...more }] })] },
    );
  const wanted = (hostPort: number, more: object = {}) => using(hostPort, more).pod;
  const sidecar = {
    ...container({}, { ports: [{ containerPort: 80, hostPort: 80 }] }),
    restartPolicy: 'Always',
  };
  run([
    ['one that is free', wanted(8080), { others: [using(8081)] }, 'ok'],
    ['one that another has', wanted(8080), { others: [using(8080)] }, portsText],
    ['the same of another protocol', wanted(53, { protocol: 'UDP' }), { others: [using(53)] }, 'ok'],
    [
      'the same of another address',
      wanted(80, { hostIP: '10.0.0.1' }),
      { others: [using(80, { hostIP: '10.0.0.2' })] },
      'ok',
    ],
    [
      'the same address',
      wanted(80, { hostIP: '10.0.0.1' }),
      { others: [using(80, { hostIP: '10.0.0.1' })] },
      portsText,
    ],
    ['an address of all', wanted(80, { hostIP: '10.0.0.1' }), { others: [using(80)] }, portsText],
    ['all of an address', wanted(80), { others: [using(80, { hostIP: '10.0.0.1' })] }, portsText],
    ['no port of the node', wanted(0), { others: [using(0)] }, 'ok'],
    [
      'the network of the node',
      podOf({ hostNetwork: true, containers: [container({}, { ports: [{ containerPort: 80 }] })] }),
      { others: [using(80)] },
      portsText,
    ],
    ['a sidecar', podOf({ initContainers: [sidecar] }), { others: [using(80)] }, portsText],
    [
      'an init container is gone by then',
      podOf({ initContainers: [{ ...sidecar, restartPolicy: '' }] }),
      { others: [using(80)] },
      'ok',
    ],
  ]);
});

describe('taints', () => {
  const gone = { key: 'gone', value: 'yes', effect: 'NoExecute' };
  const tolerating = (toleration: object) => podOf({ tolerations: [toleration] });
  run([
    [
      'NoSchedule is for schedulers',
      podOf(),
      { node: { taints: [{ ...gone, effect: 'NoSchedule' }] } },
      'ok',
    ],
    ['NoExecute', podOf(), { node: { taints: [gone] } }, taintText],
    ['a static pod stays', podOf(), { origin: 'file', node: { taints: [gone] } }, 'ok'],
    ['one from a URL too', podOf(), { origin: 'http', node: { taints: [gone] } }, 'ok'],
    [
      'tolerated by key and value',
      tolerating({ key: 'gone', value: 'yes' }),
      { node: { taints: [gone] } },
      'ok',
    ],
    [
      'another value',
      tolerating({ key: 'gone', operator: 'Equal', value: 'no' }),
      { node: { taints: [gone] } },
      taintText,
    ],
    [
      'by existence',
      tolerating({ key: 'gone', operator: 'Exists', effect: 'NoExecute' }),
      { node: { taints: [gone] } },
      'ok',
    ],
    [
      'of another effect',
      tolerating({ key: 'gone', operator: 'Exists', effect: 'NoSchedule' }),
      { node: { taints: [gone] } },
      taintText,
    ],
    ['everything', tolerating({ operator: 'Exists' }), { node: { taints: [gone] } }, 'ok'],
    [
      'for some time',
      tolerating({ operator: 'Exists', tolerationSeconds: 1 }),
      { node: { taints: [gone] } },
      'ok',
    ],
  ]);
});
