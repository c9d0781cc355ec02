/** The Endpoints of the Service `kubernetes` and the ServiceCIDR of that name say where the API and the Services are. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { EndpointSlice } from '../../../../src/api/index.ts';
import {
  endpointSliceKind,
  endpointsKind,
  namespaceKind,
  serviceCIDRKind,
  serviceKind,
} from '../../../../src/api/index.ts';
import type { ServerAddress } from '../../../../src/apiserver/controllers/index.ts';
import { apiEndpoints, serviceRange } from '../../../../src/apiserver/controllers/index.ts';
import { waitFor } from '../../../support/index.ts';
import { startServer } from '../support/index.ts';
import { context, prepare } from '../workloads/world.ts';

const spec = { clusterIP: 'None', ports: [{ port: 6443 }] };

/** A control plane with some servers, and what it says of them. */
async function start(servers: ServerAddress[], selector: Record<string, string> = {}) {
  const world = await prepare((options) => [apiEndpoints({ ...options, servers: async () => servers })]);
  const { registry, storage } = world;
  await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);
  const service = { metadata: { name: 'kubernetes' }, spec: { ...spec, selector } };
  await registry.of(serviceKind).create('default', service, context);
  await world.start();
  const slices = registry.of(endpointSliceKind);
  const endpoints = registry.of(endpointsKind);
  const own = () =>
    storage.list(slices.prefix('default'), '', 0).items.map((stored) => slices.encoding.read(stored));
  const subsets = () =>
    storage
      .list(endpoints.prefix('default'), '', 0)
      .items.flatMap((stored) => endpoints.encoding.read(stored).subsets ?? [])
      .map(({ addresses = [], ports = [] }) => `${addresses.map(({ ip }) => ip)} ${ports[0]?.port}`);
  return { ...world, slices, endpoints, own, subsets };
}

const shown = (slices: readonly EndpointSlice[]) =>
  slices
    .map(({ metadata, endpoints = [], ports = [] }) => {
      const addresses = endpoints.map((each) => each.addresses[0]);
      return `${metadata?.name} ${addresses} ${ports[0]?.name}:${ports[0]?.port}`;
    })
    .sort();

const until = (what: () => unknown, expected: unknown) =>
  waitFor(JSON.stringify(expected), () => JSON.stringify(what()) === JSON.stringify(expected));

describe('the Endpoints of the API', () => {
  test('are the addresses of all servers, and follow them', async () => {
    const servers = [
      { address: '192.0.2.2', port: 6443 },
      { address: '192.0.2.1', port: 6443 },
    ];
    await using world = await start(servers);
    await until(() => shown(world.own()), ['kubernetes 192.0.2.1,192.0.2.2 https:6443']);
    assert.deepEqual(world.subsets(), ['192.0.2.1,192.0.2.2 6443']);
    const [slice] = world.own();
    assert.deepEqual(slice?.metadata?.labels, { 'kubernetes.io/service-name': 'kubernetes' });
    const mirrored = world.endpoints.encoding.read(world.endpoints.get('default', 'kubernetes'));
    assert.deepEqual(mirrored.metadata?.labels, { 'endpointslice.kubernetes.io/skip-mirror': 'true' });

    servers.splice(0, 2, { address: '2001:db8::1', port: 6443 }, { address: '192.0.2.3', port: 7443 });
    await world.clock.advance(10_000);
    await until(
      () => shown(world.own()),
      ['kubernetes 2001:db8::1 https:6443', 'kubernetes-ipv4-7443 192.0.2.3 https:7443'],
    );
    assert.deepEqual(world.subsets(), ['2001:db8::1 6443', '192.0.2.3 7443']);
  });

  test('come again when they are deleted, and are written only when something has changed', async () => {
    await using world = await start([{ address: '192.0.2.2', port: 6443 }]);
    await until(() => world.own().length, 1);
    const revision = world.own()[0]?.metadata?.resourceVersion;
    await world.clock.advance(60_000);
    assert.equal(world.own()[0]?.metadata?.resourceVersion, revision);
    await world.slices.delete('default', 'kubernetes', {}, context);
    await world.endpoints.delete('default', 'kubernetes', {}, context);
    await until(() => [world.own().length, world.subsets().length], [1, 1]);
  });

  test('stay as they are while no address is known', async () => {
    const servers: ServerAddress[] = [];
    await using world = await start(servers);
    await world.endpoints.create(
      'default',
      {
        metadata: { name: 'kubernetes' },
        subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 1 }] }],
      },
      context,
    );
    await world.clock.advance(20_000);
    assert.deepEqual([world.subsets(), world.own()], [['192.0.2.9 1'], []]);
  });

  test('are nothing of ours where the Service has pods of its own', async () => {
    await using world = await start([{ address: '192.0.2.2', port: 6443 }], { app: 'proxy' });
    await world.clock.advance(20_000);
    assert.deepEqual([world.subsets(), world.own()], [[], []]);
  });
});

describe('the ServiceCIDR of the cluster', () => {
  test('says the ranges of the server, is ready, and comes again', async () => {
    await using world = await prepare((options) => [serviceRange({ ...options, ranges: ['10.7.0.0/16'] })]);
    const resource = world.registry.of(serviceCIDRKind);
    const wrong = { metadata: { name: 'kubernetes' }, spec: { cidrs: ['10.0.0.0/24'] } };
    await resource.create('', wrong, context);
    await world.start();
    const found = () =>
      world.storage.list(resource.prefix(''), '', 0).items.map((stored) => resource.encoding.read(stored));
    const isRight = () => {
      const [{ spec, status } = {}] = found();
      return spec?.cidrs?.join() === '10.7.0.0/16' && status?.conditions?.[0]?.status === 'True';
    };
    await waitFor('the right range', isRight);
    await resource.delete('', 'kubernetes', {}, context);
    await waitFor('another one', isRight);
  });

  const server = startServer();
  after(async () => (await server)[Symbol.asyncDispose]());

  test('is there on every control plane', async () => {
    const { admin } = await server;
    const path = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes';
    const found = await waitFor('the ServiceCIDR', async () => {
      const reply = await admin.request('GET', path);
      return reply.code === 200 ? JSON.parse(reply.text) : undefined;
    });
    assert.deepEqual(found.spec.cidrs, ['10.0.0.0/24']);
  });
});
