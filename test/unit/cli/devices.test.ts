import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listDevices, listResources } from '../../../src/cli/devices.ts';
import { withoutColour } from '../../../src/cli/terminal/colour.ts';
import { renderForPeople } from '../../../src/cli/terminal/result.ts';

const formatResources = (list: Record<string, unknown>) =>
  renderForPeople(listResources(list), 'table', withoutColour);
const formatDevices = (list: Record<string, unknown>) =>
  renderForPeople(listDevices(list), 'table', withoutColour);

const plugin = { state: 'serving', way: 'registration', socket: '/run/p.sock', lastError: 'of yesterday' };

describe('nodeward devices ls', () => {
  test('shows each resource with its plugin', () => {
    const items = [
      { resource: 'vendor.example/gpu', capacity: 4, allocatable: 3, plugin, devices: [] },
      {
        resource: 'vendor.example/nic',
        capacity: 2,
        allocatable: 0,
        plugin: { ...plugin, state: 'away', lastError: 'connection refused' },
      },
    ];
    assert.deepEqual(formatResources({ items }).split('\n'), [
      'RESOURCE             CAPACITY   ALLOCATABLE   PLUGIN    BY             SOCKET        REMARKS',
      'vendor.example/gpu   4          3             serving   registration   /run/p.sock   -',
      'vendor.example/nic   2          0             away      registration   /run/p.sock   connection refused',
      '',
    ]);
  });

  test('shows each device with who uses it', () => {
    const devices = [
      { id: 'd0', healthy: true, numaNodes: [0, 1], usedBy: 'default/p/c' },
      { id: 'd1', healthy: false, numaNodes: [] },
    ];
    assert.deepEqual(formatDevices({ items: [{ resource: 'a/b', devices }] }).split('\n'), [
      'RESOURCE   DEVICE   HEALTHY   NUMA   USED BY',
      'a/b        d0       yes       0,1    default/p/c',
      'a/b        d1       no        -      -',
      '',
    ]);
  });

  test('bears whatever an agent sends, and shows no control characters', () => {
    for (const list of [{}, { items: [{}, 3, { devices: 'x', plugin: [] }] }, { items: 'x' }]) {
      assert.match(formatResources(list), /^(RESOURCE|$)/);
      assert.match(formatDevices(list), /^(RESOURCE|$)/);
    }
    const evil = formatResources({ items: [{ resource: 'a\u001b[31m/b', plugin: { lastError: '\u0007' } }] });
    assert.ok(!evil.includes('\u001b') && !evil.includes('\u0007'));
  });
});
