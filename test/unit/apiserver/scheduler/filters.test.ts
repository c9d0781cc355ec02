/** What the filters say of nodes, by the documented semantics of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Nominations } from '../../../../src/apiserver/scheduler/nominations.ts';
import { beginRules, checkNode } from '../../../../src/apiserver/scheduler/place-pod.ts';
import type { ClusterWords, NodeWords, PodSpec, PodWords } from './cluster.ts';
import { makeCluster, pending } from './cluster.ts';

/** By node, its reasons and whether they are final; or why no node is asked. */
function judge(pod: PodWords, words: ClusterWords): Record<string, string> | string {
  const cluster = makeCluster(words);
  const incoming = pending(pod);
  const begun = beginRules(incoming, cluster);
  if ('refusal' in begun) return begun.refusal;
  return Object.fromEntries(
    cluster.nodes.map((node) => {
      const verdict = checkNode(incoming, node, begun.rules, new Nominations());
      const text = verdict?.reasons.join(', ') ?? 'fits';
      return [node.name, verdict?.isFinal === true ? `${text} (final)` : text];
    }),
  );
}

/** Of a cluster of one node. */
const judgeOne = (pod: PodWords, node: NodeWords, pods: readonly PodWords[] = []) => {
  const verdicts = judge(pod, { nodes: { n: node }, pods: pods.map((each) => ({ node: 'n', ...each })) });
  return typeof verdicts === 'string' ? verdicts : verdicts['n'];
};

const fits = 'fits';

describe('NodeUnschedulable and TaintToleration', () => {
  const tainted = 'node(s) had untolerated taint(s) (final)';
  const cordoned = 'node(s) were unschedulable (final)';
  type Tolerations = NonNullable<PodSpec['tolerations']>;
  const rows: readonly [taints: string, tolerations: Tolerations, expected: string][] = [
    ['', [], fits],
    ['k=v:NoSchedule', [], tainted],
    ['k=v:NoExecute', [], tainted],
    ['k=v:PreferNoSchedule', [], fits],
    ['k=v:NoSchedule', [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }], fits],
    ['k=v:NoSchedule', [{ key: 'k', value: 'v', effect: 'NoSchedule' }], fits],
    ['k=v:NoSchedule', [{ key: 'k', operator: 'Equal', value: 'other', effect: 'NoSchedule' }], tainted],
    ['k=v:NoSchedule', [{ key: 'other', operator: 'Equal', value: 'v', effect: 'NoSchedule' }], tainted],
    ['k=v:NoSchedule', [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute' }], tainted],
    ['k=v:NoSchedule', [{ key: 'k', operator: 'Equal', value: 'v' }], fits],
    ['k=v:NoExecute', [{ key: 'k', operator: 'Equal', value: 'v' }], fits],
    ['k=v:NoSchedule', [{ key: 'k', operator: 'Exists' }], fits],
    ['k=v:NoExecute', [{ key: 'k', operator: 'Exists' }], fits],
    ['k=v:NoExecute', [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }], tainted],
    ['k=v:NoExecute', [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }], fits],
    ['k=v:NoSchedule', [{ key: 'other', operator: 'Exists' }], tainted],
    ['k=v:NoSchedule', [{ operator: 'Exists' }], fits],
    ['k=v:NoExecute', [{ operator: 'Exists' }], fits],
    ['k=v:NoSchedule', [{ operator: 'Exists', effect: 'NoSchedule' }], fits],
    ['k=v:NoExecute', [{ operator: 'Exists', effect: 'NoSchedule' }], tainted],
    ['k=:NoSchedule', [{ key: 'k', operator: 'Equal' }], fits],
    ['k=:NoSchedule', [{ key: 'k', operator: 'Equal', value: 'v' }], tainted],
    ['a=:NoSchedule b=:NoSchedule', [{ key: 'a', operator: 'Exists' }], tainted],
    [
      'a=:NoSchedule b=:NoSchedule',
      [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists' },
      ],
      fits,
    ],
    ['a=:PreferNoSchedule b=:NoSchedule', [{ key: 'b', operator: 'Exists' }], fits],
    ['a=:NoSchedule a=:NoExecute', [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }], tainted],
    ['a=:NoSchedule a=:NoExecute', [{ key: 'a', operator: 'Exists' }], fits],
  ];
  for (const [taints, tolerations, expected] of rows) {
    test(`${taints || 'no taint'}; ${JSON.stringify(tolerations)}: ${expected}`, () => {
      const node = { taints: taints === '' ? [] : taints.split(' ') };
      assert.equal(judgeOne({ spec: { tolerations } }, node), expected);
    });
  }
  const key = 'node.kubernetes.io/unschedulable';
  const cordons: readonly [Tolerations, expected: string][] = [
    [[], cordoned],
    [[{ key, operator: 'Exists', effect: 'NoSchedule' }], fits],
    [[{ key, operator: 'Exists' }], fits],
    [[{ key, operator: 'Exists', effect: 'NoExecute' }], cordoned],
    [[{ operator: 'Exists' }], fits],
    [[{ key: 'other', operator: 'Exists' }], cordoned],
  ];
  for (const [tolerations, expected] of cordons) {
    test(`a cordoned node; ${JSON.stringify(tolerations)}: ${expected}`, () =>
      assert.equal(judgeOne({ spec: { tolerations } }, { cordoned: true }), expected));
  }
});

describe('NodeAffinity', () => {
  const wrong = "node(s) didn't match Pod's node affinity/selector (final)";
  const labels = { disk: 'ssd', zone: 'a', size: '5', empty: '' };
  const selectors: readonly [selector: Record<string, string>, expected: string][] = [
    [{}, fits],
    [{ disk: 'ssd' }, fits],
    [{ disk: 'hdd' }, wrong],
    [{ other: 'ssd' }, wrong],
    [{ disk: 'ssd', zone: 'a' }, fits],
    [{ disk: 'ssd', zone: 'b' }, wrong],
    [{ empty: '' }, fits],
    [{ missing: '' }, wrong],
    [{ disk: '' }, wrong],
  ];
  for (const [nodeSelector, expected] of selectors) {
    test(`nodeSelector ${JSON.stringify(nodeSelector)}: ${expected}`, () =>
      assert.equal(judgeOne({ spec: { nodeSelector } }, { labels }), expected));
  }

  type Expression = [key: string, operator: string, ...values: string[]];
  const read = ([key, operator, ...values]: Expression) => ({ key, operator, values });
  const required = (terms: readonly (readonly Expression[])[], fields: readonly Expression[] = []) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: terms.map((term) => ({
            matchExpressions: term.map(read),
            ...(fields.length === 0 ? {} : { matchFields: fields.map(read) }),
          })),
        },
      },
    },
  });
  const rows: readonly [terms: readonly (readonly Expression[])[], expected: string][] = [
    [[[['disk', 'In', 'ssd']]], fits],
    [[[['disk', 'In', 'hdd', 'ssd']]], fits],
    [[[['disk', 'In', 'hdd']]], wrong],
    [[[['missing', 'In', 'x']]], wrong],
    [[[['disk', 'NotIn', 'hdd']]], fits],
    [[[['disk', 'NotIn', 'ssd']]], wrong],
    [[[['disk', 'NotIn', 'hdd', 'ssd']]], wrong],
    [[[['missing', 'NotIn', 'x']]], fits],
    [[[['disk', 'Exists']]], fits],
    [[[['missing', 'Exists']]], wrong],
    [[[['disk', 'DoesNotExist']]], wrong],
    [[[['missing', 'DoesNotExist']]], fits],
    [[[['empty', 'Exists']]], fits],
    [[[['size', 'Gt', '4']]], fits],
    [[[['size', 'Gt', '5']]], wrong],
    [[[['size', 'Lt', '6']]], fits],
    [[[['size', 'Lt', '5']]], wrong],
    [[[['disk', 'Gt', '1']]], wrong],
    [[[['missing', 'Gt', '1']]], wrong],
    [[[['missing', 'Lt', '1']]], wrong],
    [
      [
        [
          ['disk', 'In', 'ssd'],
          ['zone', 'In', 'a'],
        ],
      ],
      fits,
    ],
    [
      [
        [
          ['disk', 'In', 'ssd'],
          ['zone', 'In', 'b'],
        ],
      ],
      wrong,
    ],
    [[[['disk', 'In', 'hdd']], [['zone', 'In', 'a']]], fits],
    [[[['disk', 'In', 'hdd']], [['zone', 'In', 'b']]], wrong],
    [[[]], wrong],
    [[[], [['disk', 'Exists']]], fits],
    [[[['disk', 'In', 'ssd']], [['zone', 'In', 'b']]], fits],
  ];
  for (const [terms, expected] of rows) {
    test(`required ${JSON.stringify(terms)}: ${expected}`, () =>
      assert.equal(judgeOne({ spec: required(terms) }, { labels }), expected));
  }
  test('selector and affinity must both hold', () => {
    const spec = { ...required([[['disk', 'In', 'ssd']]]), nodeSelector: { zone: 'b' } };
    assert.equal(judgeOne({ spec }, { labels }), wrong);
  });

  const field = 'metadata.name';
  const named: readonly [fields: readonly Expression[], expected: string][] = [
    [[[field, 'In', 'n']], fits],
    [[[field, 'In', 'other']], wrong],
    [[[field, 'NotIn', 'n']], wrong],
    [[[field, 'NotIn', 'other']], fits],
    [
      [
        [field, 'In', 'n'],
        [field, 'In', 'other'],
      ],
      'pod affinity terms conflict',
    ],
    [
      [
        [field, 'In', 'n'],
        [field, 'NotIn', 'other'],
      ],
      fits,
    ],
  ];
  for (const [fields, expected] of named) {
    test(`fields ${JSON.stringify(fields)}: ${expected}`, () =>
      assert.equal(judgeOne({ spec: required([[]], fields) }, { labels }), expected));
  }
});

describe('NodePorts', () => {
  const taken = "node(s) didn't have free ports for the requested pod ports";
  /** `IP/PROTOCOL/PORT`. */
  const withPorts = (
    ports: readonly string[],
    container: 'containers' | 'initContainers' = 'containers',
    restartPolicy?: string,
  ): PodWords => {
    const all = ports.map((text) => {
      const [hostIP = '', protocol = '', port = ''] = text.split('/');
      return { hostIP, protocol, hostPort: Number(port), containerPort: 80 };
    });
    const one = {
      name: 'c',
      image: 'i',
      ports: all,
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    };
    return {
      spec: container === 'containers' ? { containers: [one] } : { initContainers: [one], containers: [] },
    };
  };
  const rows: readonly [wanted: string[], used: string[], expected: string][] = [
    [[], ['/TCP/80'], fits],
    [['/TCP/80'], [], fits],
    [['/TCP/80'], ['/TCP/80'], taken],
    [['/TCP/80'], ['/TCP/81'], fits],
    [['/TCP/80'], ['/UDP/80'], fits],
    [['/SCTP/80'], ['/UDP/80'], fits],
    [['/UDP/80'], ['/UDP/80'], taken],
    [['//80'], ['/TCP/80'], taken],
    [['10.0.0.1/TCP/80'], ['10.0.0.1/TCP/80'], taken],
    [['10.0.0.1/TCP/80'], ['10.0.0.2/TCP/80'], fits],
    [['10.0.0.1/TCP/80'], ['/TCP/80'], taken],
    [['0.0.0.0/TCP/80'], ['10.0.0.2/TCP/80'], taken],
    [['/TCP/80'], ['10.0.0.2/TCP/80'], taken],
    [['/TCP/80'], ['0.0.0.0/TCP/80'], taken],
    [['10.0.0.1/UDP/80'], ['0.0.0.0/TCP/80'], fits],
    [['/TCP/80', '/TCP/81'], ['/TCP/81'], taken],
    [['/TCP/80'], ['/TCP/81', '/TCP/80'], taken],
    [['/TCP/0'], ['/TCP/0'], fits],
  ];
  for (const [wanted, used, expected] of rows) {
    test(`${wanted.join(' ') || 'none'} where ${used.join(' ') || 'none'} is used: ${expected}`, () =>
      assert.equal(judgeOne(withPorts(wanted), {}, [withPorts(used)]), expected));
  }
  test('ports of sidecars count, those of init containers that end do not', () => {
    const other = withPorts(['/TCP/80']);
    assert.equal(judgeOne(withPorts(['/TCP/80'], 'initContainers', 'Always'), {}, [other]), taken);
    assert.equal(judgeOne(withPorts(['/TCP/80'], 'initContainers'), {}, [other]), fits);
  });
});

describe('NodeResourcesFit', () => {
  const used = { wants: { cpu: '3', memory: '6Gi' } };
  const rows: readonly [
    title: string,
    pod: PodWords,
    others: PodWords[],
    has: Record<string, string>,
    expected: string,
  ][] = [
    ['nothing wanted on a full node', {}, [{ wants: { cpu: '4' } }], {}, fits],
    ['all of it', { wants: { cpu: '4', memory: '8Gi' } }, [], {}, fits],
    ['what is left', { wants: { cpu: '1', memory: '2Gi' } }, [used], {}, fits],
    ['a thousandth more cpu than is left', { wants: { cpu: '1001m' } }, [used], {}, 'Insufficient cpu'],
    [
      'a byte more than is left',
      { wants: { memory: `${2 * 2 ** 30 + 1}` } },
      [used],
      {},
      'Insufficient memory',
    ],
    [
      'both too much',
      { wants: { cpu: '2', memory: '4Gi' } },
      [used],
      {},
      'Insufficient cpu, Insufficient memory',
    ],
    ['more than the node has', { wants: { cpu: '5' } }, [], {}, 'Insufficient cpu (final)'],
    ['more memory than the node has', { wants: { memory: '9Gi' } }, [], {}, 'Insufficient memory (final)'],
    [
      'one final, one not',
      { wants: { cpu: '2', memory: '9Gi' } },
      [used],
      {},
      'Insufficient cpu, Insufficient memory (final)',
    ],
    [
      'ephemeral storage',
      { wants: { 'ephemeral-storage': '2Gi' } },
      [],
      { 'ephemeral-storage': '1Gi' },
      'Insufficient ephemeral-storage (final)',
    ],
    [
      'ephemeral storage that is there',
      { wants: { 'ephemeral-storage': '1Gi' } },
      [],
      { 'ephemeral-storage': '1Gi' },
      fits,
    ],
    ['an extended resource', { wants: { 'example.com/gpu': '1' } }, [], { 'example.com/gpu': '1' }, fits],
    [
      'an extended resource in use',
      { wants: { 'example.com/gpu': '1' } },
      [{ wants: { 'example.com/gpu': '1' } }],
      { 'example.com/gpu': '1' },
      'Insufficient example.com/gpu',
    ],
    [
      'an extended resource that is not there',
      { wants: { 'example.com/gpu': '1' } },
      [],
      {},
      'Insufficient example.com/gpu (final)',
    ],
    ['none of an extended resource', { wants: { 'example.com/gpu': '0' } }, [], {}, fits],
    [
      'hugepages',
      { wants: { 'hugepages-2Mi': '4Mi' } },
      [],
      { 'hugepages-2Mi': '2Mi' },
      'Insufficient hugepages-2Mi (final)',
    ],
    ['the last pod', {}, [{}], { pods: '2' }, fits],
    ['one pod too many', {}, [{}, {}], { pods: '2' }, 'Too many pods'],
    ['a node for no pods', {}, [], { pods: '0' }, 'Too many pods'],
    [
      'too many pods and too little cpu',
      { wants: { cpu: '4' } },
      [{ wants: { cpu: '1' } }],
      { pods: '1' },
      'Too many pods, Insufficient cpu',
    ],
    [
      'pods that leave still count',
      { wants: { cpu: '4' } },
      [{ wants: { cpu: '1' }, isLeaving: true }],
      {},
      'Insufficient cpu',
    ],
    ['cpu in decimals', { wants: { cpu: '0.5' } }, [{ wants: { cpu: '3500m' } }], {}, fits],
    [
      'overhead',
      { wants: { cpu: '3' }, spec: { overhead: { cpu: '1001m' } } },
      [],
      {},
      'Insufficient cpu (final)',
    ],
    ['overhead that fits', { wants: { cpu: '3' }, spec: { overhead: { cpu: '1' } } }, [], {}, fits],
    [
      'the overhead of others',
      { wants: { cpu: '1' } },
      [{ wants: { cpu: '3' }, spec: { overhead: { cpu: '1m' } } }],
      {},
      'Insufficient cpu',
    ],
    [
      'resources of the pod as a whole',
      { wants: { cpu: '1' }, spec: { resources: { requests: { cpu: '5' } } } },
      [],
      {},
      'Insufficient cpu (final)',
    ],
    [
      'resources of the pod below those of its containers',
      { wants: { memory: '1Gi' }, spec: { resources: { requests: { cpu: '2' } } } },
      [{ wants: { cpu: '2' } }],
      {},
      fits,
    ],
  ];
  for (const [title, pod, others, has, expected] of rows) {
    test(`${title}: ${expected}`, () => assert.equal(judgeOne(pod, { has }, others), expected));
  }
  const container = (cpu: string, restartPolicy?: string) => ({
    ...{ name: `c${cpu}`, image: 'i', resources: { requests: { cpu } } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const inits: readonly [
    title: string,
    init: ReturnType<typeof container>[],
    regular: string[],
    expected: string,
  ][] = [
    ['the sum of containers', [], ['2', '2'], fits],
    ['the sum of containers', [], ['2', '3'], 'Insufficient cpu (final)'],
    ['the largest init container', [container('4')], ['1'], fits],
    ['the largest init container', [container('5')], ['1'], 'Insufficient cpu (final)'],
    ['init containers one after the other', [container('3'), container('4')], ['2'], fits],
    ['sidecars beside containers', [container('1', 'Always')], ['3'], fits],
    ['sidecars beside containers', [container('2', 'Always')], ['3'], 'Insufficient cpu (final)'],
    [
      'an init container beside an earlier sidecar',
      [container('1', 'Always'), container('4')],
      ['1'],
      'Insufficient cpu (final)',
    ],
    ['an init container before a sidecar', [container('4'), container('1', 'Always')], ['1'], fits],
  ];
  for (const [title, initContainers, regular, expected] of inits) {
    const spec = { initContainers, containers: regular.map((cpu) => container(cpu)) };
    const what = `${title}: ${initContainers.map(({ name }) => name).join('+')} ${regular.join('+')}: ${expected}`;
    test(what, () => assert.equal(judgeOne({ spec }, {}), expected));
  }
});

describe('DynamicResources', () => {
  test('a pod with resource claims is refused', () => {
    const spec = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'claim' }] };
    const expected = 'pod has resource claims (spec.resourceClaims), which this scheduler does not allocate';
    assert.equal(judgeOne({ spec }, {}), expected);
  });
  test('a pod without any is not', () => assert.equal(judgeOne({ spec: { resourceClaims: [] } }, {}), fits));
});

/** Nodes a1, a2 in zone a and b1, b2 in zone b; `bare` has neither zone nor host. */
const place = (zone: string, host: string) => ({ labels: { zone, host } });
const fourNodes = { a1: place('a', 'a1'), a2: place('a', 'a2'), b1: place('b', 'b1'), b2: place('b', 'b2') };
const app = { app: 'web' };

/** `a1 a1 b2`: pods `web` on these nodes. */
const webOn = (nodes: string): PodWords[] =>
  nodes
    .split(' ')
    .filter(Boolean)
    .map((node) => ({ node, labels: app }));
/** The nodes that pass. */
const passing = (verdicts: Record<string, string> | string) =>
  typeof verdicts === 'string'
    ? verdicts
    : Object.keys(verdicts)
        .filter((name) => verdicts[name] === fits)
        .join(' ');

describe('PodTopologySpread', () => {
  const skewed = "node(s) didn't match pod topology spread constraints";
  type Constraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];
  const constraint = (change: Partial<Constraint> = {}): Constraint => ({
    ...{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    labelSelector: { matchLabels: app },
    ...change,
  });
  const rows: readonly [pods: string, change: Partial<Constraint>, expected: string][] = [
    ['', {}, 'a1 a2 b1 b2'],
    ['a1', {}, 'b1 b2'],
    ['a1 b1', {}, 'a1 a2 b1 b2'],
    ['a1 a2', {}, 'b1 b2'],
    ['a1 a2 b1', {}, 'b1 b2'],
    ['a1', { maxSkew: 2 }, 'a1 a2 b1 b2'],
    ['a1 a2', { maxSkew: 2 }, 'b1 b2'],
    ['a1 a2 a1', { maxSkew: 3 }, 'b1 b2'],
    ['a1', { topologyKey: 'host' }, 'a2 b1 b2'],
    ['a1 a2 b1', { topologyKey: 'host' }, 'b2'],
    ['a1 a2 b1 b2', { topologyKey: 'host' }, 'a1 a2 b1 b2'],
    ['a1 a1 a2 b1 b2', { topologyKey: 'host' }, 'a2 b1 b2'],
    ['', { minDomains: 2 }, 'a1 a2 b1 b2'],
    ['', { minDomains: 3 }, 'a1 a2 b1 b2'],
    ['a1 b1', { minDomains: 3 }, ''],
    ['a1', { minDomains: 3 }, 'b1 b2'],
    ['a1 b1', { minDomains: 2 }, 'a1 a2 b1 b2'],
    ['a1 b1', { minDomains: 3, maxSkew: 2 }, 'a1 a2 b1 b2'],
    ['a1 a2', { whenUnsatisfiable: 'ScheduleAnyway' }, 'a1 a2 b1 b2'],
    ['a1 a2', { labelSelector: { matchLabels: { app: 'other' } } }, 'a1 a2 b1 b2'],
    ['a1 a2', { labelSelector: {} }, 'b1 b2'],
    ['a1 a2', { labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }, 'b1 b2'],
  ];
  for (const [pods, change, expected] of rows) {
    test(`pods on ${pods || 'no node'}, ${JSON.stringify(change)}: ${expected || 'none'}`, () => {
      const pod = { labels: app, spec: { topologySpreadConstraints: [constraint(change)] } };
      assert.equal(passing(judge(pod, { nodes: fourNodes, pods: webOn(pods) })), expected);
    });
  }
  const spreading = (...constraints: Constraint[]): PodWords => ({
    labels: app,
    spec: { topologySpreadConstraints: constraints },
  });
  const others: readonly [title: string, pod: PodWords, words: ClusterWords, expected: string][] = [
    [
      'a pod that its selector does not select counts as none',
      { ...spreading(constraint()), labels: {} },
      { nodes: fourNodes, pods: webOn('a1') },
      'a1 a2 b1 b2',
    ],
    [
      'pods of other namespaces do not count',
      spreading(constraint()),
      { nodes: fourNodes, pods: [{ node: 'a1', labels: app, namespace: 'x' }] },
      'a1 a2 b1 b2',
    ],
    [
      'pods that leave do not count',
      spreading(constraint()),
      { nodes: fourNodes, pods: [{ node: 'a1', labels: app, isLeaving: true }] },
      'a1 a2 b1 b2',
    ],
    [
      'pods without the label do not count',
      spreading(constraint()),
      { nodes: fourNodes, pods: [{ node: 'a1' }] },
      'a1 a2 b1 b2',
    ],
    [
      'both constraints',
      spreading(constraint(), constraint({ topologyKey: 'host' })),
      { nodes: fourNodes, pods: webOn('a1 b1') },
      'a2 b2',
    ],
    [
      'no node satisfies both',
      spreading(constraint(), constraint({ topologyKey: 'host' })),
      { nodes: fourNodes, pods: webOn('a1 a2 b1 b1 b2') },
      'a1 a2',
    ],
    [
      'nodes with one of two keys form no domain',
      spreading(constraint(), constraint({ topologyKey: 'host' })),
      { nodes: { ...fourNodes, c: { labels: { zone: 'c' } } }, pods: webOn('a1 b1') },
      'a2 b2',
    ],
    [
      'nodes that the selector excludes do not count',
      {
        ...spreading(constraint()),
        spec: { nodeSelector: { zone: 'a' }, topologySpreadConstraints: [constraint()] },
      },
      { nodes: fourNodes, pods: webOn('a1 a2') },
      'a1 a2',
    ],
    [
      'with nodeAffinityPolicy Ignore they do',
      {
        labels: app,
        spec: {
          nodeSelector: { zone: 'a' },
          topologySpreadConstraints: [constraint({ nodeAffinityPolicy: 'Ignore' })],
        },
      },
      { nodes: fourNodes, pods: webOn('a1 a2') },
      '',
    ],
    [
      'tainted nodes count by default',
      spreading(constraint()),
      { nodes: { a1: fourNodes.a1, b1: { ...fourNodes.b1, taints: ['k=:NoSchedule'] } }, pods: webOn('a1') },
      '',
    ],
    [
      'with nodeTaintsPolicy Honor they do not',
      spreading(constraint({ nodeTaintsPolicy: 'Honor' })),
      { nodes: { a1: fourNodes.a1, b1: { ...fourNodes.b1, taints: ['k=:NoSchedule'] } }, pods: webOn('a1') },
      'a1',
    ],
    [
      'a taint PreferNoSchedule excludes no node from counting',
      spreading(constraint({ nodeTaintsPolicy: 'Honor' })),
      {
        nodes: { a1: fourNodes.a1, b1: { ...fourNodes.b1, taints: ['k=:PreferNoSchedule'] } },
        pods: webOn('a1'),
      },
      'b1',
    ],
    [
      'matchLabelKeys narrow the selector',
      {
        labels: { ...app, rev: '2' },
        spec: { topologySpreadConstraints: [constraint({ matchLabelKeys: ['rev'] })] },
      },
      { nodes: fourNodes, pods: [{ node: 'a1', labels: { ...app, rev: '1' } }] },
      'a1 a2 b1 b2',
    ],
    [
      'matchLabelKeys of the same revision',
      {
        labels: { ...app, rev: '2' },
        spec: { topologySpreadConstraints: [constraint({ matchLabelKeys: ['rev'] })] },
      },
      { nodes: fourNodes, pods: [{ node: 'a1', labels: { ...app, rev: '2' } }] },
      'b1 b2',
    ],
    [
      'matchLabelKeys that the pod lacks are left out',
      { labels: app, spec: { topologySpreadConstraints: [constraint({ matchLabelKeys: ['rev'] })] } },
      { nodes: fourNodes, pods: webOn('a1') },
      'b1 b2',
    ],
  ];
  for (const [title, pod, words, expected] of others) {
    test(`${title}: ${expected || 'none'}`, () => assert.equal(passing(judge(pod, words)), expected));
  }
  test('reasons: too many can change, a missing label cannot', () => {
    const verdicts = judge(spreading(constraint()), { nodes: { ...fourNodes, bare: {} }, pods: webOn('a1') });
    assert.ok(typeof verdicts === 'object');
    assert.equal(verdicts['a1'], skewed);
    assert.equal(verdicts['bare'], `${skewed} (missing required label) (final)`);
  });
});

describe('InterPodAffinity', () => {
  type Affinity = NonNullable<PodSpec['affinity']>;
  type Term = NonNullable<
    NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >[number];
  const term = (change: Partial<Term> = {}): Term => ({
    ...{ topologyKey: 'zone', labelSelector: { matchLabels: app } },
    ...change,
  });
  const near = (...terms: Term[]): PodWords => ({
    spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } },
  });
  const apart = (...terms: Term[]): PodWords => ({
    spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } },
  });
  const all = 'a1 a2 b1 b2';
  const namespaces = { ns: { team: 'own' }, x: { team: 'red' }, y: { team: 'blue' } };
  const inX: PodWords = { node: 'a1', labels: app, namespace: 'x' };
  const web = webOn('a1');
  const rows: readonly [title: string, pod: PodWords, pods: PodWords[], expected: string][] = [
    ['near one of a zone', near(term()), web, 'a1 a2'],
    ['near one of a host', near(term({ topologyKey: 'host' })), web, 'a1'],
    ['near nobody', near(term()), [], ''],
    ['near where there are only others', near(term()), [{ node: 'a1', labels: { app: 'db' } }], ''],
    ['near one that leaves', near(term()), [{ node: 'a1', labels: app, isLeaving: true }], 'a1 a2'],
    ['the first of its group', { ...near(term()), labels: app }, [], all],
    ['the second of its group', { ...near(term()), labels: app }, web, 'a1 a2'],
    [
      'the first of its group, which is of another namespace',
      { ...near(term({ namespaces: ['x'] })), labels: app },
      [],
      '',
    ],
    [
      'both terms in one zone',
      near(term(), term({ labelSelector: { matchLabels: { tier: 'front' } } })),
      [{ node: 'a1', labels: { ...app, tier: 'front' } }],
      'a1 a2',
    ],
    [
      'one pod must meet all terms',
      near(term(), term({ labelSelector: { matchLabels: { tier: 'front' } } })),
      [
        { node: 'a1', labels: app },
        { node: 'a1', labels: { tier: 'front' } },
      ],
      '',
    ],
    ['terms by zone and host', near(term(), term({ topologyKey: 'host' })), web, 'a1'],
    ['pods of other namespaces', near(term()), [inX], ''],
    ['namespaces that are named', near(term({ namespaces: ['x'] })), [inX], 'a1 a2'],
    ['namespaces that are named leave out its own', near(term({ namespaces: ['x'] })), web, ''],
    [
      'a selector of namespaces',
      near(term({ namespaceSelector: { matchLabels: { team: 'red' } } })),
      [inX],
      'a1 a2',
    ],
    [
      'a selector of other namespaces',
      near(term({ namespaceSelector: { matchLabels: { team: 'blue' } } })),
      [inX],
      '',
    ],
    ['the empty selector is of all namespaces', near(term({ namespaceSelector: {} })), [inX], 'a1 a2'],
    [
      'names and selector together',
      near(term({ namespaces: ['y'], namespaceSelector: { matchLabels: { team: 'red' } } })),
      [inX],
      'a1 a2',
    ],
    ['no selector of pods selects none', near({ topologyKey: 'zone' }), web, ''],
    ['the empty selector of pods selects all', near(term({ labelSelector: {} })), [{ node: 'b1' }], 'b1 b2'],
    [
      'NotIn',
      near(
        term({ labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }] } }),
      ),
      web,
      'a1 a2',
    ],
    ['apart from one of a zone', apart(term()), web, 'b1 b2'],
    ['apart from one of a host', apart(term({ topologyKey: 'host' })), web, 'a2 b1 b2'],
    ['apart from nobody', apart(term()), [], all],
    ['apart from its own like', { ...apart(term()), labels: app }, web, 'b1 b2'],
    ['apart from its own like in every zone', { ...apart(term()), labels: app }, webOn('a1 b1'), ''],
    ['apart from one that leaves', apart(term()), [{ node: 'a1', labels: app, isLeaving: true }], 'b1 b2'],
    [
      'apart, each term by itself',
      apart(term({ topologyKey: 'host' }), term({ labelSelector: { matchLabels: { tier: 'front' } } })),
      [
        { node: 'a1', labels: app },
        { node: 'b1', labels: { tier: 'front' } },
      ],
      'a2',
    ],
    ['apart from pods of other namespaces', apart(term()), [inX], all],
    ['apart from pods of named namespaces', apart(term({ namespaces: ['x'] })), [inX], 'b1 b2'],
    ['apart from all namespaces', apart(term({ namespaceSelector: {} })), [inX], 'b1 b2'],
    ['a label that no node has', apart(term({ topologyKey: 'rack' })), web, all],
    ['near by a label that no node has', near(term({ topologyKey: 'rack' })), web, ''],
    [
      'the first of its group by a label that no node has',
      { ...near(term({ topologyKey: 'rack' })), labels: app },
      [],
      '',
    ],
    ['others want it apart', { labels: app }, [{ node: 'a1', ...apart(term()) }], 'b1 b2'],
    [
      'others want it apart by host',
      { labels: app },
      [{ node: 'a1', ...apart(term({ topologyKey: 'host' })) }],
      'a2 b1 b2',
    ],
    ['others want other pods apart', { labels: { app: 'db' } }, [{ node: 'a1', ...apart(term()) }], all],
    [
      'others of another namespace mean their own',
      { labels: app },
      [{ node: 'a1', namespace: 'x', ...apart(term()) }],
      all,
    ],
    [
      'others of another namespace mean this one',
      { labels: app },
      [{ node: 'a1', namespace: 'x', ...apart(term({ namespaces: ['ns'] })) }],
      'b1 b2',
    ],
    [
      'others of another namespace mean it by its labels',
      { labels: app },
      [
        {
          node: 'a1',
          namespace: 'x',
          ...apart(term({ namespaceSelector: { matchLabels: { team: 'own' } } })),
        },
      ],
      'b1 b2',
    ],
    ['others want it near, which is their matter', { labels: app }, [{ node: 'a1', ...near(term()) }], all],
    [
      'matchLabelKeys',
      { ...apart(term({ matchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '1' } }],
      all,
    ],
    [
      'matchLabelKeys of the same revision',
      { ...apart(term({ matchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '2' } }],
      'b1 b2',
    ],
    [
      'mismatchLabelKeys',
      { ...apart(term({ mismatchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '1' } }],
      'b1 b2',
    ],
    [
      'mismatchLabelKeys of the same revision',
      { ...apart(term({ mismatchLabelKeys: ['rev'] })), labels: { rev: '2' } },
      [{ node: 'a1', labels: { ...app, rev: '2' } }],
      all,
    ],
  ];
  for (const [title, pod, pods, expected] of rows) {
    test(`${title}: ${expected || 'none'}`, () =>
      assert.equal(passing(judge(pod, { nodes: fourNodes, pods, namespaces })), expected));
  }
  const reasons: readonly [title: string, pod: PodWords, pods: PodWords[], expected: string][] = [
    ['nobody is near', near(term()), [], "node(s) didn't match pod affinity rules (final)"],
    ['somebody is not apart', apart(term()), web, "node(s) didn't match pod anti-affinity rules"],
    [
      'somebody wants it apart',
      { labels: app },
      [{ node: 'a1', ...apart(term()) }],
      "node(s) didn't satisfy existing pods anti-affinity rules",
    ],
  ];
  for (const [title, pod, pods, expected] of reasons) {
    test(`${title}: ${expected}`, () => {
      const verdicts = judge(pod, { nodes: fourNodes, pods });
      assert.equal(typeof verdicts === 'string' ? verdicts : verdicts['a1'], expected);
    });
  }
});

describe('several filters', () => {
  const orders: readonly [title: string, pod: PodWords, node: NodeWords, expected: string][] = [
    [
      'cordon before taints',
      {},
      { cordoned: true, taints: ['k=:NoSchedule'] },
      'node(s) were unschedulable (final)',
    ],
    [
      'taints before selector',
      { spec: { nodeSelector: { a: 'b' } } },
      { taints: ['k=:NoSchedule'] },
      'node(s) had untolerated taint(s) (final)',
    ],
    [
      'selector before resources',
      { wants: { cpu: '9' }, spec: { nodeSelector: { a: 'b' } } },
      {},
      "node(s) didn't match Pod's node affinity/selector (final)",
    ],
  ];
  for (const [title, pod, node, expected] of orders)
    test(title, () => assert.equal(judgeOne(pod, node), expected));
});
