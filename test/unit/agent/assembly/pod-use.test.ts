import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryEventsOf } from '../../../../src/agent/assembly/pod-use.ts';
import { GroupFiles } from '../../../../src/agent/usage/index.ts';

test('of all pods the events of their own group are followed, not those of every container, and with version 2 alone', () => {
  const fileOf = (version: 1 | 2, roots: readonly string[]) =>
    memoryEventsOf(new GroupFiles({ version, roots }), ['kubepods']);
  assert.equal(fileOf(2, ['/groups']), '/groups/kubepods/memory.events.local');
  assert.equal(fileOf(2, []), undefined);
  assert.equal(fileOf(1, ['/groups/memory']), undefined);
});
