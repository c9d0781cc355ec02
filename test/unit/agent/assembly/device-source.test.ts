import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDeviceHealth } from '../../../../src/agent/assembly/device-source.ts';

test('the health of the devices of a container is that of their plugin, and unknown without one', () => {
  const response = { devices: [], mounts: [], envs: {}, annotations: {}, cdiDevices: [] };
  const holding = (resourceName: string, ...ids: string[]) => ({
    ...{ podUid: 'u', containerName: 'main', resourceName, response },
    devices: ids.map((id) => ({ id, numaNodes: [] })),
  });
  const device = (id: string, healthy: boolean) => [id, { id, healthy, numaNodes: [] }] as const;
  const gpus = {
    name: 'vendor.test/gpu',
    devices: new Map([device('0', true), device('1', false)]),
    options: { preStartRequired: false, preferredAllocation: false },
    plugin: undefined,
  };
  const health = createDeviceHealth(
    {
      held: (uid, container) => ({
        holdings:
          uid === 'u' && container === 'main'
            ? [holding('vendor.test/gpu', '0', '1', '2'), holding('vendor.test/nic', 'a')]
            : [],
        options: response,
      }),
    },
    { resources: () => new Map([[gpus.name, gpus]]) },
  );
  assert.deepEqual(health('u', 'main'), [
    {
      name: 'vendor.test/gpu',
      resources: [
        { resourceID: '0', health: 'Healthy' },
        { resourceID: '1', health: 'Unhealthy' },
        { resourceID: '2', health: 'Unknown' },
      ],
    },
    { name: 'vendor.test/nic', resources: [{ resourceID: 'a', health: 'Unknown' }] },
  ]);
  assert.deepEqual(health('u', 'other'), []);
});
