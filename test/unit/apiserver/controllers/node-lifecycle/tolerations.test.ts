import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeToleratedSeconds } from '../../../../../src/apiserver/controllers/node-lifecycle/tolerations.ts';

const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const red = { key: 'team', value: 'red', effect: 'NoExecute' };
const exists = { operator: 'Exists', effect: 'NoExecute' };

describe('how long a pod may stay', () => {
  const forever = Number.POSITIVE_INFINITY;
  const cases: [
    string,
    number,
    Parameters<typeof computeToleratedSeconds>[0],
    Parameters<typeof computeToleratedSeconds>[1],
  ][] = [
    ['no toleration', 0, [unreachable], []],
    ['every key and effect', forever, [unreachable, red], [{ operator: 'Exists' }]],
    ['one of two taints', 0, [unreachable, red], [{ ...exists, key: unreachable.key }]],
    ['another effect', 0, [unreachable], [{ operator: 'Exists', effect: 'NoSchedule' }]],
    ['the value', forever, [red], [{ key: 'team', value: 'red' }]],
    ['another value', 0, [red], [{ key: 'team', operator: 'Equal', value: 'blue' }]],
    ['no value where there is none', forever, [unreachable], [{ key: unreachable.key, effect: 'NoExecute' }]],
    ['some seconds', 30, [unreachable], [{ ...exists, tolerationSeconds: 30 }]],
    ['less than none', 0, [unreachable], [{ ...exists, tolerationSeconds: -1 }]],
    [
      'the shortest for any taint',
      5,
      [unreachable, red],
      [
        { ...exists, key: 'team', tolerationSeconds: 5 },
        { ...exists, tolerationSeconds: 30 },
      ],
    ],
    ['the first for one taint', 30, [unreachable], [{ ...exists, tolerationSeconds: 30 }, exists]],
  ];
  for (const [what, seconds, taints, tolerations] of cases) {
    test(what, () => assert.equal(computeToleratedSeconds(taints, tolerations), seconds));
  }
});
