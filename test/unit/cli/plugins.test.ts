import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPlugins } from '../../../src/cli/plugins.ts';
import { withoutColour } from '../../../src/cli/terminal/colour.ts';
import { renderForPeople } from '../../../src/cli/terminal/result.ts';

const shown = (list: Record<string, unknown>) =>
  renderForPeople(listPlugins(list, now), 'table', withoutColour);
const now = Date.parse('2025-01-01T12:00:00Z');

test('plugins are shown with what they are, how far they are, and what is wrong', () => {
  const folder = '/var/lib/nodeward/plugins_registry';
  const items = [
    {
      path: `${folder}/csi.example.com-reg.sock`,
      state: 'registered',
      type: 'CSIPlugin',
      name: 'csi.example.com',
      endpoint: '/var/lib/nodeward/plugins/csi.sock',
      versions: ['1.0.0', '1.1.0'],
      since: '2025-01-01T09:00:00Z',
      attempts: 1,
      details: { nodeID: 'n1', maxVolumes: 8 },
    },
    {
      path: `${folder}/sub/gpu.sock`,
      state: 'failed',
      since: '2025-01-01T11:59:50Z',
      attempts: 7,
      lastError: 'GetInfo: no answer within 1 s\u001b[2J',
      nextTry: '2025-01-01T12:00:32Z',
    },
  ];
  const rows = shown({ folder, items })
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  assert.deepEqual(rows, [
    ['SOCKET', 'TYPE', 'NAME', 'VERSIONS', 'STATE', 'SINCE', 'TRIES', 'NEXT TRY', 'REMARKS'],
    [
      'csi.example.com-reg.sock',
      'CSIPlugin',
      'csi.example.com',
      '1.0.0,1.1.0',
      'registered',
      '3h',
      '1',
      '-',
      'nodeID=n1 maxVolumes=8',
    ],
    ['sub/gpu.sock', '-', '-', '-', 'failed', '10s', '7', 'in 32s', 'GetInfo: no answer within 1 s?[2J'],
    [''],
  ]);
});

test('what an agent of another version sends does not break the table', () => {
  const items = [{}, { path: 3, versions: 'x', since: 'yesterday', attempts: '1', details: [] }];
  const lines = shown({ items }).trimEnd().split('\n');
  assert.equal(lines.length, 3);
});
