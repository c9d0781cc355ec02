/** Endpoints that are written by hand are shown as EndpointSlices. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EndpointSlice, EndpointSubset, Endpoints } from '../../../../src/api/index.ts';
import { endpointSliceKind, endpointsKind, podKind, serviceKind } from '../../../../src/api/index.ts';
import { ownerGarbage } from '../../../../src/apiserver/controllers/index.ts';
import {
  maxMirrored,
  mirrorManager,
  planMirror,
} from '../../../../src/apiserver/workloads/endpoints/mirror.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { World } from './world.ts';
import { namespace, prepare } from './world.ts';

function endpoints(subsets: EndpointSubset[], metadata: Endpoints['metadata'] = {}): Endpoints {
  return { metadata: { name: 'db', namespace, uid: 'uid-of-db', ...metadata }, subsets };
}

const ports = [{ name: 'sql', port: 5432 }];
const one: EndpointSubset = { addresses: [{ ip: '10.1.2.3' }], ports };

/** By family and port, which addresses there are; those in brackets are not ready. */
function shown(slices: readonly EndpointSlice[]): string[] {
  return slices
    .map(({ addressType, endpoints: all = [], ports: own = [] }) => {
      const names = all.map(({ addresses, conditions }) =>
        conditions?.ready ? addresses[0] : `(${addresses[0]})`,
      );
      return `${addressType} ${own.map(({ name, protocol, port }) => `${name}/${protocol}/${port}`)} ${names}`;
    })
    .sort();
}

const planned = (given: Endpoints) => planMirror(given, []).create;

describe('the slices of Endpoints have', () => {
  test('their addresses by family and ports, ready or not', () => {
    const other = [{ port: 80, protocol: 'UDP' }];
    const given = endpoints([
      { ...one, notReadyAddresses: [{ ip: '10.1.2.4' }, { ip: 'fd00::1' }] },
      { addresses: [{ ip: '10.1.2.3' }], ports: other },
    ]);
    assert.deepEqual(shown(planned(given)), [
      'IPv4 /UDP/80 10.1.2.3',
      'IPv4 sql/TCP/5432 10.1.2.3,(10.1.2.4)',
      'IPv6 sql/TCP/5432 (fd00::1)',
    ]);
  });

  test('what is said of an address, and of all of them', () => {
    const targetRef = { kind: 'Machine', name: 'm' };
    const address = { ip: '10.1.2.3', hostname: 'first', nodeName: 'one', targetRef };
    const annotations = {
      'endpoints.kubernetes.io/last-change-trigger-time': '2024-01-01T00:00:00Z',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      team: 'a',
    };
    const [slice] = planned(
      endpoints([{ addresses: [address], ports }], { annotations, labels: { app: 'db' } }),
    );
    assert.deepEqual(slice?.metadata, {
      labels: {
        app: 'db',
        'kubernetes.io/service-name': 'db',
        'endpointslice.kubernetes.io/managed-by': mirrorManager,
      },
      annotations: { team: 'a' },
    });
    assert.deepEqual(slice.endpoints, [
      { addresses: ['10.1.2.3'], conditions: { ready: true }, hostname: 'first', targetRef, nodeName: 'one' },
    ]);
  });

  test('a thousand addresses of a subset', () => {
    const addresses = Array.from({ length: maxMirrored + 7 }, (_, at) => ({
      ip: `10.1.${Math.floor(at / 250)}.${1 + (at % 250)}`,
    }));
    const plan = planMirror(endpoints([{ addresses, ports }, one]), []);
    const count = plan.create.flatMap(({ endpoints: all = [] }) => all).length;
    assert.deepEqual([count, plan.skipped], [maxMirrored, 7], 'that of the second subset is one of them');
  });

  test('nothing, where they are not to be mirrored', () => {
    const slices = planned(endpoints([one])).map((slice) => ({ ...slice, metadata: { name: 'db-1' } }));
    const unwanted = [
      endpoints([one], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
      endpoints([one], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }),
      endpoints([]),
      undefined,
    ];
    for (const given of unwanted)
      assert.deepEqual(planMirror(given, slices), { create: [], update: [], delete: slices, skipped: 0 });
  });

  test('what they had, where nothing has changed', () => {
    const given = endpoints([one], { annotations: { team: 'a' } });
    const slices = planned(given).map((slice) => ({
      ...slice,
      metadata: { ...slice.metadata, name: 'db-1' },
    }));
    assert.deepEqual(planMirror(given, slices), { create: [], update: [], delete: [], skipped: 0 });
    const changed = planMirror(endpoints([{ addresses: [{ ip: '10.1.2.9' }], ports }]), slices);
    assert.deepEqual([changed.create, changed.delete], [[], []], 'another endpoint needs no other slice');
    assert.deepEqual(shown(changed.update), ['IPv4 sql/TCP/5432 10.1.2.9']);
  });
});

describe('the controller', () => {
  const selectorless = { metadata: { name: 'db' }, spec: { ports: [{ port: 5432 }] } };
  const untilShown = (world: World, ...expected: string[]) =>
    waitFor(
      'the slices',
      () => JSON.stringify(shown(world.list(endpointSliceKind))) === JSON.stringify(expected),
    );

  test('follows Endpoints from their making to their end', async () => {
    await using world = await prepare((options) => [...workloadControllers(options), ownerGarbage(options)]);
    await world.start();
    await world.create(endpointsKind, { metadata: { name: 'db' }, subsets: [one] });
    await world.create(serviceKind, selectorless);
    await untilShown(world, 'IPv4 sql/TCP/5432 10.1.2.3');
    const [slice] = world.list(endpointSliceKind);
    assert.match(slice?.metadata?.name ?? '', /^db-[a-z0-9]{5}$/);
    assert.partialDeepStrictEqual(slice?.metadata?.ownerReferences, [{ kind: 'Endpoints', name: 'db' }]);
    const next = [{ addresses: [{ ip: '10.2.3.4' }], ports }];
    await world.change(endpointsKind, 'db', (now) => ({ ...now, subsets: next }));
    await untilShown(world, 'IPv4 sql/TCP/5432 10.2.3.4');
    await world.remove(endpointsKind, 'db');
    await untilShown(world);
  });

  test('ends with the Service: its Endpoints go, whoever has made them', async () => {
    await using world = await prepare((options) => [...workloadControllers(options), ownerGarbage(options)]);
    await world.start();
    await world.create(serviceKind, selectorless);
    await world.create(endpointsKind, { metadata: { name: 'db' }, subsets: [one] });
    await world.create(endpointsKind, { metadata: { name: 'of-no-service' }, subsets: [one] });
    await untilShown(world, 'IPv4 sql/TCP/5432 10.1.2.3');
    await world.remove(serviceKind, 'db');
    await untilShown(world);
    await waitFor('its Endpoints', () => world.list(endpointsKind).length === 1);
    assert.equal(world.get(endpointsKind, 'of-no-service').subsets?.length, 1);
  });

  test('makes way for the pods of a Service that gets a selector', async () => {
    await using world = await prepare(workloadControllers);
    await world.start();
    await world.create(serviceKind, selectorless);
    await world.create(endpointsKind, { metadata: { name: 'db' }, subsets: [one] });
    await untilShown(world, 'IPv4 sql/TCP/5432 10.1.2.3');
    await world.create(podKind, {
      metadata: { name: 'db-0', labels: { app: 'db' } },
      spec: { nodeName: 'one', containers: [{ name: 'db', image: 'db' }] },
    });
    const podIP = '10.1.0.1';
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
    await world.change(
      podKind,
      'db-0',
      (now) => ({ ...now, status: { ...now.status, ...status } }),
      'status',
    );
    await world.change(serviceKind, 'db', (now) => ({
      ...now,
      spec: { ...now.spec, selector: { app: 'db' } },
    }));
    await untilShown(world, 'IPv4 /TCP/5432 (10.1.0.1)');
  });
});
