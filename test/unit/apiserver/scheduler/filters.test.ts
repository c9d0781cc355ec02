/** What the filters that look at one node say, by the documented semantics of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeWords, PodSpec, PodWords } from './cluster.ts';
import { fits, judgeOne } from './judge.ts';

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
