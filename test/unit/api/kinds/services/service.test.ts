/** What a Service may say, and what it means by what it leaves out. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service, ServiceSpec } from '../../../../../src/api/index.ts';
import { serviceKind } from '../../../../../src/api/index.ts';

const web = [{ port: 80 }];
const settled = (spec: ServiceSpec, old?: Service): Service =>
  serviceKind.default(serviceKind.prepare(structuredClone({ spec }), old));
const causes = (spec: ServiceSpec, old?: ServiceSpec, more: Partial<Service> = {}) =>
  serviceKind
    .validate({ ...settled(spec), ...more }, old && settled(old))
    .map(({ field, message }) => `${field}: ${message}`);

describe('the defaults of a service', () => {
  test('are those of its type', () => {
    assert.deepEqual(settled({ ports: [{ port: 80 }] }).spec, {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    });
    const { spec: nodePort } = settled({ type: 'NodePort' });
    assert.equal(nodePort?.externalTrafficPolicy, 'Cluster');
    const { spec: balanced } = settled({ type: 'LoadBalancer' });
    assert.deepEqual(
      [balanced?.externalTrafficPolicy, balanced?.allocateLoadBalancerNodePorts],
      ['Cluster', true],
    );
    const { spec: alias } = settled({ type: 'ExternalName', externalName: 'example.com' });
    assert.deepEqual([alias?.externalTrafficPolicy, alias?.internalTrafficPolicy], [undefined, undefined]);
    const { spec: outside } = settled({ externalIPs: ['192.0.2.1'] });
    assert.equal(outside?.externalTrafficPolicy, 'Cluster');
  });

  test('give a client three hours with its pod', () => {
    const { spec } = settled({ sessionAffinity: 'ClientIP' });
    assert.deepEqual(spec?.sessionAffinityConfig, { clientIP: { timeoutSeconds: 10_800 } });
    const none = settled({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } });
    assert.equal(none.spec?.sessionAffinityConfig, undefined);
  });

  test('leave no state to a new service', () => {
    const next = {
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    };
    assert.equal(serviceKind.prepare(next, undefined).status, undefined);
  });
});

const valid: [string, ServiceSpec][] = [
  ['a port', { ports: web }],
  [
    'several ports',
    {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80, protocol: 'UDP' },
      ],
    },
  ],
  ['a named target', { ports: [{ port: 80, targetPort: 'http', appProtocol: 'kubernetes.io/h2c' }] }],
  ['no address and no port', { clusterIP: 'None' }],
  ['another name', { type: 'ExternalName', externalName: 'db.example.com.' }],
  ['ranges of clients', { type: 'LoadBalancer', ports: web, loadBalancerSourceRanges: [' 192.0.2.7/24 '] }],
];

const invalid: [ServiceSpec, ...string[]][] = [
  [{}, 'spec.ports: Required value'],
  [
    { ports: [{ port: 0 }] },
    'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
  ],
  [{ ports: [{ port: 80 }, { port: 81, name: 'b' }] }, 'spec.ports[0].name: Required value'],
  [
    {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'a' },
      ],
    },
    'spec.ports[1].name: Duplicate value: "a"',
  ],
  [
    {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    },
    'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":80}',
  ],
  [
    { ports: [{ port: 80, protocol: 'ICMP' }] },
    'spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
  ],
  [
    { ports: [{ port: 80, nodePort: 30_000 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  [
    { ports: web, type: 'Any' },
    'spec.type: Unsupported value: "Any": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ],
  [
    { ports: web, sessionAffinity: 'Cookie' },
    'spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"',
  ],
  [
    {
      ports: web,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
    },
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ],
  [{ type: 'ExternalName' }, 'spec.externalName: Required value'],
  [
    {
      type: 'ExternalName',
      externalName: 'example.com',
      clusterIP: '10.0.0.1',
      ipFamilyPolicy: 'SingleStack',
    },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
  ],
  [
    { type: 'NodePort', clusterIP: 'None', ports: web },
    `spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`,
  ],
  [
    { ports: web, clusterIP: '10.0.0.300' },
    'spec.clusterIPs[0]: Invalid value: "10.0.0.300": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    { ports: web, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
    'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`',
  ],
  [
    { ports: web, clusterIPs: ['10.0.0.2'] },
    'spec.clusterIPs: Invalid value: ["10.0.0.2"]: must be empty when `clusterIP` is not specified',
  ],
  [
    { ports: web, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
    'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
  ],
  [
    { ports: web, clusterIP: '10.0.0.1', ipFamilies: ['IPv6'] },
    'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
  ],
  [{ ports: web, ipFamilies: ['IPv4', 'IPv4'] }, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'],
  [
    { ports: web, ipFamilyPolicy: 'Both' },
    'spec.ipFamilyPolicy: Unsupported value: "Both": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
  ],
  [
    { ports: web, externalIPs: ['127.0.0.1', '0.0.0.0', '169.254.1.1'] },
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
    'spec.externalIPs[2]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ],
  [
    { ports: web, loadBalancerSourceRanges: ['10.0.0.0'] },
    "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
    'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
  [
    { ports: web, loadBalancerClass: 'example.com/lb' },
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ],
  [
    { ports: web, externalTrafficPolicy: 'Local' },
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
  [
    { ports: web, internalTrafficPolicy: 'Near' },
    'spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"',
  ],
  [
    { ports: web, trafficDistribution: 'Far' },
    'spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
  ],
  [
    { ports: web, healthCheckNodePort: 30_000 },
    "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
  ],
];

describe('a service', () => {
  for (const [what, spec] of valid) test(`may have ${what}`, () => assert.deepEqual(causes(spec), []));
  for (const [spec, ...expected] of invalid)
    test(`is refused: ${expected[0]}`, () => assert.deepEqual(causes(spec), expected));

  test('has the address of a load balancer only when it has one', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } };
    assert.deepEqual(causes({ ports: web }, undefined, { status }), [
      'status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is "LoadBalancer"',
    ]);
    const balanced = { ports: web, type: 'LoadBalancer' };
    assert.deepEqual(causes(balanced, undefined, { status }), []);
    const wrong = { loadBalancer: { ingress: [{ hostname: '192.0.2.1', ipMode: 'VIP' }] } };
    assert.deepEqual(causes(balanced, undefined, { status: wrong }), [
      'status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set',
      'status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
    ]);
  });

  test('keeps its class', () => {
    const of = (loadBalancerClass: string) => ({ ports: web, type: 'LoadBalancer', loadBalancerClass });
    assert.deepEqual(causes(of('example.com/b'), of('example.com/a')), [
      'spec.loadBalancerClass: Invalid value: "example.com/b": may not change once set',
    ]);
  });

  test('has a name that is a label of a host', () => assert.equal(serviceKind.nameRule, 'hostLabel'));

  test('is shown with where it is reached', () => {
    const cells = (service: Service) =>
      serviceKind.columns.filter(({ name }) => name !== 'Age').map(({ value }) => value(service, 0));
    assert.deepEqual(
      cells({
        spec: {
          type: 'ClusterIP',
          clusterIPs: ['10.0.0.1'],
          ports: [
            { port: 80, protocol: 'TCP' },
            { port: 53, nodePort: 30_053, protocol: 'UDP' },
          ],
          selector: { b: '2', a: '1' },
        },
      }),
      [...['ClusterIP', '10.0.0.1', '<none>', '80/TCP,53:30053/UDP', 'a=1,b=2']],
    );
    assert.deepEqual(
      cells({
        spec: { type: 'LoadBalancer', externalIPs: ['192.0.2.9'] },
        status: { loadBalancer: { ingress: [{ hostname: 'b.example.com' }, { ip: '192.0.2.1' }] } },
      }),
      [...['LoadBalancer', '<none>', '192.0.2.1,b.example.com,192.0.2.9', '<none>', '<none>']],
    );
    assert.equal(cells({ spec: { type: 'LoadBalancer' } })[2], '<pending>');
    assert.equal(cells({ spec: { type: 'ExternalName', externalName: 'example.com' } })[2], 'example.com');
  });
});
