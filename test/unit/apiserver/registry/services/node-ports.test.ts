/** Which ports on the nodes a service gets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServiceSpec } from '../../../../../src/api/index.ts';
import { refusal, servicesWorld } from './world.ts';

const few = { clusterIPs: ['10.1.0.0/24'], nodePorts: [30_000, 30_003] as const };
const portsOf = ({ spec }: { spec?: ServiceSpec }) => spec?.ports?.map(({ nodePort }) => nodePort) ?? [];
const named = (name: string, port: number, more: object = {}) => ({ name, port, ...more });

describe('the ports of a service on the nodes', () => {
  test('are of the range, each given once, until there are none', async () => {
    const { create, remove } = await servicesWorld(few);
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => create(name, { type: 'NodePort', ports: [{ port: 80 }] })),
    );
    assert.deepEqual(made.flatMap(portsOf).sort(), [30_000, 30_001, 30_002, 30_003]);
    const more = () => create('e', { type: 'NodePort', ports: [{ port: 80 }] });
    assert.equal(
      await refusal(more()),
      'Internal error occurred: failed to allocate a nodePort: range is full',
    );
    await remove('b');
    assert.deepEqual(portsOf(await more()), made[1] && portsOf(made[1]));
  });

  test('are those that it states', async () => {
    const { create } = await servicesWorld(few);
    const stated = (nodePort: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
    assert.deepEqual(portsOf(await create('a', stated(30_002))), [30_002]);
    assert.equal(
      await refusal(create('b', stated(30_002))),
      'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated',
    );
    assert.equal(
      await refusal(create('b', stated(80))),
      'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30003',
    );
  });

  test('are shared by the protocols of one port', async () => {
    const { create } = await servicesWorld(few);
    const ports = [named('tcp', 53), named('udp', 53, { protocol: 'UDP' })];
    const [one, other] = portsOf(await create('a', { type: 'NodePort', ports }));
    assert.ok(one && one === other);
    const later = [named('tcp', 53), named('udp', 53, { protocol: 'UDP', nodePort: 30_001 })];
    const { create: createAgain } = await servicesWorld(few);
    assert.deepEqual(portsOf(await createAgain('a', { type: 'NodePort', ports: later })), [30_001, 30_001]);
  });

  test('stay by name when a client does not say them, and a new one gets its own', async () => {
    const { create, replace } = await servicesWorld(few);
    const [first] = portsOf(await create('a', { type: 'NodePort', ports: [named('http', 80)] }));
    // by chance one of few: none of them is the one that stays
    const others = ['more', 'again', 'last'].map((name, index) => named(name, 81 + index));
    const next = await replace('a', { type: 'NodePort', ports: [...others, named('http', 8080)] });
    assert.equal(portsOf(next)[3], first);
    assert.deepEqual(new Set(portsOf(next)).size, 4);
  });

  test('go with the type, and are free for others', async () => {
    const { create, change } = await servicesWorld(few);
    const [first = 0] = portsOf(await create('a', { type: 'NodePort', ports: [{ port: 80 }] }));
    assert.deepEqual(portsOf(await change('a', (spec) => ({ ...spec, type: 'ClusterIP' }))), [undefined]);
    const ports = [{ port: 80, nodePort: first }];
    assert.deepEqual(portsOf(await create('b', { type: 'NodePort', ports })), [first]);
  });

  test('are none for a load balancer that needs none, but for one that it states', async () => {
    const { create } = await servicesWorld(few);
    const direct = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
    const ports = [named('a', 80), named('b', 81, { nodePort: 30_001 })];
    assert.deepEqual(portsOf(await create('a', { ...direct, ports })), [undefined, 30_001]);
  });

  test('of health checks come and go with the policy', async () => {
    const { create, change } = await servicesWorld(few);
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ port: 80 }] };
    const { spec } = await create('a', local);
    assert.ok(spec?.healthCheckNodePort && spec.healthCheckNodePort !== spec.ports?.[0]?.nodePort);
    const { spec: next } = await change('a', (old) => ({ ...old, externalTrafficPolicy: 'Cluster' }));
    assert.equal(next?.healthCheckNodePort, undefined);
    assert.equal(
      await refusal(create('b', { ...local, healthCheckNodePort: spec.ports?.[0]?.nodePort ?? 0 })),
      `Internal error occurred: failed to allocate requested HealthCheck NodePort ${spec.ports?.[0]?.nodePort}: provided port is already allocated`,
    );
  });
});
