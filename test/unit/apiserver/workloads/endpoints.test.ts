/** EndpointSlices and Endpoints say where the pods of services are. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EndpointSlice, Pod, Service, ServiceSpec } from '../../../../src/api/index.ts';
import {
  endpointSliceKind,
  endpointsKind,
  nodeKind,
  podKind,
  serviceKind,
} from '../../../../src/api/index.ts';
import {
  managedByLabel,
  maxEndpointsInSlice,
  planSlices,
  serviceNameLabel,
} from '../../../../src/apiserver/workloads/endpoints/plan-slices.ts';
import { endpointsOf, maxAddresses } from '../../../../src/apiserver/workloads/endpoints/subsets.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { World } from './world.ts';
import { context, namespace, prepare } from './world.ts';

const labels = { app: 'web' };

function service(spec: ServiceSpec = {}, metadata: Service['metadata'] = {}): Service {
  return {
    metadata: { name: 'web', namespace, uid: 'uid-of-web', ...metadata },
    spec: {
      type: 'ClusterIP',
      selector: labels,
      ports: [{ port: 80 }],
      ipFamilies: ['IPv4'],
      clusterIP: '10.0.0.9',
      ...spec,
    },
  };
}

interface PodWish {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly ending?: boolean;
  readonly ips?: readonly string[];
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

function pod(
  number: number,
  { phase = 'Running', ready = true, ending = false, ips, spec }: PodWish = {},
): Pod {
  const podIPs = (ips ?? [`10.1.${Math.floor(number / 250)}.${1 + (number % 250)}`]).map((ip) => ({ ip }));
  return {
    metadata: {
      ...{ name: `web-${number}`, namespace, uid: `uid-${number}`, labels },
      ...(ending ? { deletionTimestamp: '2024-01-01T00:00:00Z' } : {}),
    },
    spec: { nodeName: 'one', containers: [{ name: 'main', image: 'image' }], ...spec },
    status: { phase, podIPs, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

const noZone = () => undefined;

/** Until what the controller writes is there. */
const until = (holds: () => boolean) => waitFor('the controller', holds, { timeoutMs: 10_000 });

/** What a client that reads all slices of a family knows: by address, what is said of it. */
function readSlices(slices: readonly EndpointSlice[], family = 'IPv4') {
  return slices
    .filter(({ addressType }) => addressType === family)
    .flatMap(({ endpoints = [], ports = [] }) =>
      endpoints.map(({ addresses, conditions = {} }) => {
        const { ready, serving, terminating } = conditions;
        const state = [ready && 'ready', serving && 'serving', terminating && 'terminating'];
        const numbers = ports.map(({ name, port }) => `${name || '-'}:${port}`);
        return `${addresses[0]} ${state.filter(Boolean).join('+') || 'none'} ${numbers.join(',')}`;
      }),
    )
    .sort();
}

function planned(given: Service, pods: readonly Pod[]): readonly EndpointSlice[] {
  return planSlices(given, pods, [], noZone).create;
}

const named = (ports: { name: string; containerPort: number; protocol?: string }[]) => ({
  containers: [{ name: 'main', image: 'image', ports }],
});

const cases: readonly [what: string, ServiceSpec, readonly Pod[], readonly string[]][] = [
  ['a pod that is ready', {}, [pod(0)], ['10.1.0.1 ready+serving -:80']],
  ['one that is not', {}, [pod(0, { ready: false })], ['10.1.0.1 none -:80']],
  [
    'one that is ending takes nothing new',
    {},
    [pod(0, { ending: true })],
    ['10.1.0.1 serving+terminating -:80'],
  ],
  [
    'one that is ending and not ready',
    {},
    [pod(0, { ending: true, ready: false })],
    ['10.1.0.1 terminating -:80'],
  ],
  [
    'not ready, where that does not matter',
    { publishNotReadyAddresses: true },
    [pod(0, { ready: false })],
    ['10.1.0.1 ready -:80'],
  ],
  [
    'ending, where that does not matter',
    { publishNotReadyAddresses: true },
    [pod(0, { ready: false, ending: true })],
    ['10.1.0.1 ready+terminating -:80'],
  ],
  ['one that has ended is none', {}, [pod(0, { phase: 'Succeeded' }), pod(1, { phase: 'Failed' })], []],
  ['one without an address is none', {}, [pod(0, { ips: [] })], []],
  ['one with an address of another family is none', {}, [pod(0, { ips: ['fd00::1'] })], []],
  [
    'a number for the port',
    { ports: [{ port: 80, targetPort: 8080 }] },
    [pod(0)],
    ['10.1.0.1 ready+serving -:8080'],
  ],
  [
    'a name for the port',
    { ports: [{ port: 80, targetPort: 'http' }] },
    [
      pod(0, { spec: named([{ name: 'http', containerPort: 81 }]) }),
      pod(1, { spec: named([{ name: 'http', containerPort: 82 }]) }),
    ],
    ['10.1.0.1 ready+serving -:81', '10.1.0.2 ready+serving -:82'],
  ],
  [
    'a name that a pod does not have',
    { ports: [{ port: 80, targetPort: 'http' }] },
    [pod(0)],
    ['10.1.0.1 ready+serving '],
  ],
  [
    'a name of another protocol',
    { ports: [{ port: 53, targetPort: 'dns' }] },
    [pod(0, { spec: named([{ name: 'dns', containerPort: 53, protocol: 'UDP' }]) })],
    ['10.1.0.1 ready+serving '],
  ],
  [
    'a port of a sidecar',
    { ports: [{ port: 80, targetPort: 'http' }] },
    [
      pod(0, {
        spec: {
          initContainers: [
            { name: 's', image: 'i', restartPolicy: 'Always', ports: [{ name: 'http', containerPort: 9 }] },
          ],
        },
      }),
    ],
    ['10.1.0.1 ready+serving -:9'],
  ],
  [
    'several ports',
    {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    },
    [pod(0)],
    ['10.1.0.1 ready+serving a:1,b:2'],
  ],
  ['headless, without a port', { clusterIP: 'None', ports: [] }, [pod(0)], ['10.1.0.1 ready+serving ']],
];

describe('the slices of a service have', () => {
  for (const [what, spec, pods, expected] of cases)
    test(what, () => assert.deepEqual(readSlices(planned(service(spec), pods)), expected));

  test('a slice for each family, if an empty one; a service that is a name has none', () => {
    const dual = planned(service({ ipFamilies: ['IPv4', 'IPv6'] }), [
      pod(0, { ips: ['10.1.0.1', 'fd00::1'] }),
    ]);
    assert.deepEqual(readSlices(dual, 'IPv6'), ['fd00::1 ready+serving -:80']);
    assert.deepEqual(readSlices(dual), ['10.1.0.1 ready+serving -:80']);
    assert.equal(planned(service(), []).length, 1);
    assert.deepEqual(planned(service({ type: 'ExternalName' }), [pod(0)]), []);
  });

  test('the labels of the service and their own, the pod, its node and zone', () => {
    const given = service(
      { clusterIP: 'None', clusterIPs: ['None'], trafficDistribution: 'PreferClose' },
      { labels: { team: 'a' } },
    );
    const inDomain = pod(0, { spec: { hostname: 'first', subdomain: 'web' } });
    const [slice] = planSlices(given, [inDomain], [], () => 'north').create;
    assert.deepEqual(slice?.metadata?.labels, {
      team: 'a',
      'service.kubernetes.io/headless': '',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    });
    assert.partialDeepStrictEqual(slice?.endpoints?.[0], {
      hostname: 'first',
      nodeName: 'one',
      zone: 'north',
      hints: { forZones: [{ name: 'north' }] },
      targetRef: { kind: 'Pod', namespace, name: 'web-0', uid: 'uid-0' },
    });
  });
});

describe('slices', () => {
  /** Carries out a plan as the store would. */
  function apply(slices: readonly EndpointSlice[], plan: ReturnType<typeof planSlices>, next: () => string) {
    const updated = new Map(plan.update.map((slice) => [slice.metadata?.name, slice]));
    const gone = new Set(plan.delete.map(({ metadata }) => metadata?.name));
    const kept = slices.filter(({ metadata }) => !gone.has(metadata?.name));
    const created = plan.create.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: next() } }));
    return [...kept.map((slice) => updated.get(slice.metadata?.name) ?? slice), ...created];
  }

  test('say of random pods what they are, keep pods where they are, and are written only when something changed', () => {
    const someone = fc.record({
      number: fc.nat(400),
      ready: fc.boolean(),
      ending: fc.boolean(),
      port: fc.constantFrom(80, 81),
    });
    const world = fc.array(fc.uniqueArray(someone, { selector: ({ number }) => number, maxLength: 260 }), {
      minLength: 1,
      maxLength: 5,
    });
    const given = service({ ports: [{ port: 80, targetPort: 'http' }] });
    const property = fc.property(world, (steps) => {
      let [slices, count]: [readonly EndpointSlice[], number] = [[], 0];
      for (const step of steps) {
        const pods = step.map(({ number, ready, ending, port }) =>
          pod(number, { ready, ending, spec: named([{ name: 'http', containerPort: port }]) }),
        );
        const before = placesOf(slices);
        slices = apply(slices, planSlices(given, pods, slices, noZone), () => `web-${count++}`);
        assert.deepEqual(readSlices(slices), readSlices(planned(given, pods)));
        assert.ok(slices.every(({ endpoints = [] }) => endpoints.length <= maxEndpointsInSlice));
        const portOf = new Map(
          pods.map(({ metadata, spec }) => [metadata?.uid, spec?.containers?.[0]?.ports?.[0]?.containerPort]),
        );
        for (const [uid, { name, port }] of placesOf(slices)) {
          const was = before.get(uid);
          if (was !== undefined && was.port === portOf.get(uid) && was.port === port)
            assert.equal(name, was.name, uid);
        }
        const again = planSlices(given, pods, slices, noZone);
        assert.deepEqual(again, { create: [], update: [], delete: [] });
        if (pods.length > 0)
          assert.ok(
            slices.every(({ endpoints = [] }) => endpoints.length > 0),
            'none is empty',
          );
      }
    });
    fc.assert(property, { numRuns: 60 });
  });

  function placesOf(slices: readonly EndpointSlice[]) {
    const places = slices.flatMap(({ metadata, endpoints = [], ports = [] }) =>
      endpoints.map(
        ({ targetRef }) => [targetRef?.uid ?? '', { name: metadata?.name, port: ports[0]?.port }] as const,
      ),
    );
    assert.equal(new Set(places.map(([uid]) => uid)).size, places.length, 'no pod is there twice');
    return new Map(places);
  }

  test('have a hundred endpoints each, and one more pod makes one write', () => {
    const pods = Array.from({ length: 250 }, (_, number) => pod(number));
    const first = planned(service(), pods).map((slice, index) => ({
      ...slice,
      metadata: { ...slice.metadata, name: `${index}` },
    }));
    assert.deepEqual(
      first.map(({ endpoints = [] }) => endpoints.length),
      [100, 100, 50],
    );
    const plan = planSlices(service(), [...pods, pod(250)], first, noZone);
    assert.deepEqual([plan.create.length, plan.update.length, plan.delete.length], [0, 1, 0]);
  });
});

describe('Endpoints', () => {
  test('have those that are ready and those that are not, by their ports; not those that are ending', () => {
    const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
    const at = (port: number) => named([{ name: 'http', containerPort: port }]);
    const pods = [
      pod(1, { spec: at(81) }),
      pod(0, { spec: at(81), ready: false }),
      pod(2, { spec: at(82) }),
      pod(3, { spec: at(82), ending: true }),
      pod(4),
    ];
    const { subsets = [] } = endpointsOf(service({ ports }), pods, undefined);
    const shown = subsets.map(({ addresses = [], notReadyAddresses = [], ports: own }) => [
      addresses.map(({ ip }) => ip),
      notReadyAddresses.map(({ ip }) => ip),
      own,
    ]);
    assert.deepEqual(shown, [
      [['10.1.0.2'], ['10.1.0.1'], [{ name: 'http', port: 81, protocol: 'TCP' }]],
      [['10.1.0.3'], [], [{ name: 'http', port: 82, protocol: 'TCP' }]],
    ]);
  });

  test('have a thousand addresses at most, and say that there are more', () => {
    const pods = Array.from({ length: 1100 }, (_, number) => pod(number, { ready: number >= 200 }));
    const { subsets = [], metadata } = endpointsOf(service(), pods, undefined);
    assert.equal(subsets[0]?.addresses?.length, 900);
    assert.equal(subsets[0].notReadyAddresses?.length, maxAddresses - 900);
    assert.equal(metadata?.annotations?.['endpoints.kubernetes.io/over-capacity'], 'truncated');
    const fewer = endpointsOf(service(), pods.slice(0, 3), {
      ...(metadata === undefined ? {} : { metadata }),
      subsets,
    });
    assert.equal(fewer.metadata?.annotations, undefined);
  });
});

describe('the controller', () => {
  async function start(): Promise<World> {
    const world = await prepare(workloadControllers);
    await world.start();
    return world;
  }
  const bare = (name: string): Pod => ({
    metadata: { name, labels },
    spec: { nodeName: 'one', containers: [{ name: 'main', image: 'image' }] },
  });
  /** What an agent writes of a pod. */
  async function report(world: World, name: string, ip: string, isReady: boolean): Promise<void> {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const make = (now: Pod): Pod => ({
      ...now,
      status: { ...now.status, phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions },
    });
    await world.change(podKind, name, make, 'status');
  }
  const said = (world: World) => readSlices(world.list(endpointSliceKind));
  const untilSaid = (world: World, ...expected: string[]) =>
    until(() => JSON.stringify(said(world)) === JSON.stringify(expected));
  const plain: Service = { metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } };

  test('follows pods, the service and its own objects, and ends with the service', async () => {
    await using world = await start();
    const made = await world.create(serviceKind, plain);
    await until(() => world.list(endpointSliceKind).length === 1);
    await world.create(podKind, bare('a'));
    await report(world, 'a', '10.1.0.1', false);
    await untilSaid(world, '10.1.0.1 none -:80');
    await report(world, 'a', '10.1.0.1', true);
    await untilSaid(world, '10.1.0.1 ready+serving -:80');
    await until(() => world.get(endpointsKind, 'web').subsets?.[0]?.addresses?.[0]?.ip === '10.1.0.1');
    const [slice] = world.list(endpointSliceKind);
    assert.match(slice?.metadata?.name ?? '', /^web-[a-z0-9]{5}$/);
    assert.partialDeepStrictEqual(slice?.metadata?.ownerReferences, [
      { kind: 'Service', name: 'web', uid: made.metadata?.uid, controller: true, blockOwnerDeletion: true },
    ]);
    // somebody spoils and deletes what is kept here
    await world.change(endpointSliceKind, slice?.metadata?.name ?? '', (now) => ({ ...now, endpoints: [] }));
    await untilSaid(world, '10.1.0.1 ready+serving -:80');
    await world.remove(endpointsKind, 'web');
    await until(() => world.list(endpointsKind).length === 1);
    await world.change(podKind, 'a', (now) => ({
      ...now,
      metadata: { ...now.metadata, labels: { app: 'other' } },
    }));
    await untilSaid(world);
    await until(() => (world.get(endpointsKind, 'web').subsets ?? []).length === 0);
  });

  test('tells the zone as soon as the node says it', async () => {
    await using world = await start();
    await world.create(serviceKind, plain);
    await world.create(podKind, bare('a'));
    await report(world, 'a', '10.1.0.1', true);
    await untilSaid(world, '10.1.0.1 ready+serving -:80');
    const node = { metadata: { name: 'one', labels: { 'topology.kubernetes.io/zone': 'north' } } };
    await world.registry.of(nodeKind).create('', node, context);
    await until(() => world.list(endpointSliceKind)[0]?.endpoints?.[0]?.zone === 'north');
  });

  test('leaves alone what others made: slices of their own, and services without a selector', async () => {
    await using world = await start();
    const theirs = (manager: string): EndpointSlice => ({
      metadata: { name: `of-${manager}`, labels: { [serviceNameLabel]: 'web', [managedByLabel]: manager } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.9.9.9'] }],
    });
    await world.create(endpointSliceKind, theirs('somebody'));
    await world.create(endpointSliceKind, theirs('endpointslice-controller.k8s.io')); // of an earlier service of this name
    await world.create(endpointsKind, {
      metadata: { name: 'by-hand' },
      subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 1 }] }],
    });
    await world.create(serviceKind, { metadata: { name: 'by-hand' }, spec: { ports: [{ port: 80 }] } });
    await world.create(serviceKind, plain);
    await until(() => world.list(endpointSliceKind).length === 4);
    const kept = world.list(endpointSliceKind).filter(({ metadata }) => metadata?.name?.startsWith('of-'));
    assert.deepEqual(
      kept.map(({ endpoints = [] }) => endpoints.length),
      [1, 1],
    );
    assert.equal(world.get(endpointsKind, 'by-hand').subsets?.length, 1);
  });

  test('writes nothing while a controller manager is at work, and goes on where that one stopped', async () => {
    await using world = await start();
    await world.renewLease(15);
    await world.create(serviceKind, plain);
    await world.create(podKind, bare('a'));
    await report(world, 'a', '10.1.0.1', true);
    await world.clock.advance(10_000);
    assert.deepEqual([said(world), world.list(endpointsKind)], [[], []]);
    await world.clock.advance(10_000);
    await untilSaid(world, '10.1.0.1 ready+serving -:80');
  });
});
