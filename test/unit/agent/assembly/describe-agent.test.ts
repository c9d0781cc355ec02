import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentUrl } from '../../../../src/agent/assembly/describe-agent.ts';

test('an agent is reached at the address it listens on, and at the node’s where that is all of them', () => {
  const node = ['192.0.2.7', 'fd00::7'];
  assert.equal(agentUrl('127.0.0.1', node, 10250), 'https://127.0.0.1:10250');
  assert.equal(agentUrl('fd00::8', node, 10250), 'https://[fd00::8]:10250');
  for (const listening of ['0.0.0.0', '::', ''])
    assert.equal(agentUrl(listening, node, 10250), 'https://192.0.2.7:10250');
  assert.equal(agentUrl('::', ['fd00::7'], 10250), 'https://[fd00::7]:10250');
  assert.equal(agentUrl('0.0.0.0', [], 1), 'https://127.0.0.1:1');
});
