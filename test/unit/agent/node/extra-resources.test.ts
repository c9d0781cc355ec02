import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeStored, withExtra } from '../../../../src/agent/node/resources.ts';

const own = { capacity: { cpu: '4', pods: '110' }, allocatable: { cpu: '3', pods: '110' } };
const devices = { capacity: { 'vendor.example/gpu': '2' }, allocatable: { 'vendor.example/gpu': '1' } };

test('resources of another part stand beside the node’s own, and never for them', () => {
  assert.deepEqual(withExtra(own, undefined), own);
  assert.deepEqual(withExtra(own, devices).allocatable, { cpu: '3', pods: '110', 'vendor.example/gpu': '1' });
  const greedy = { capacity: { cpu: '1000' }, allocatable: { cpu: '1000' } };
  assert.deepEqual(withExtra(own, greedy), own);
});

test('they count over what is stored, and what others have put there stays', () => {
  const stored = {
    capacity: { 'vendor.example/gpu': '8', 'other.example/x': '7' },
    allocatable: { 'vendor.example/gpu': '8', 'other.example/x': '7' },
  };
  const next = mergeStored(withExtra(own, devices), stored);
  assert.equal(next.capacity['vendor.example/gpu'], '2');
  assert.equal(next.allocatable['vendor.example/gpu'], '1');
  assert.equal(next.capacity['other.example/x'], '7');
  assert.equal(next.allocatable['other.example/x'], '7');
});
