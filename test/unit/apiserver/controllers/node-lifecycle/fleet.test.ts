import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fleet } from '../../../../../src/apiserver/controllers/node-lifecycle/fleet.ts';
import { nodeTaints } from '../../../../../src/apiserver/controllers/node-lifecycle/taints.ts';

test('a node that is made anew under its name has its whole time, also when nobody saw that it was gone', () => {
  let nowMs = 0;
  const fleet = new Fleet({ gracePeriodMs: 40_000, taints: nodeTaints('kubernetes.io'), now: () => nowMs });
  fleet.observe('node', { metadata: { uid: 'first' } });
  nowMs = 30_000;
  fleet.observe('node', { metadata: { uid: 'second' } });
  nowMs = 69_999;
  assert.equal(fleet.judge('node')?.isSilent, false);
  nowMs = 70_000;
  assert.equal(fleet.judge('node')?.isSilent, true);
  assert.equal(fleet.judge('nobody'), undefined);
});
