import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSettings } from '../../../../src/agent/containers/index.ts';
import {
  hostsFile,
  localDns,
  parseResolvConf,
  resolveDns,
  sandboxConfig,
} from '../../../../src/agent/containers/index.ts';
import type { Spec } from './sample.ts';
import { node, samplePod, sandboxInput } from './sample.ts';

const hostDns = node.hostDns;
const cluster = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.org'],
  options: ['ndots:5'],
};

function dns(spec: Partial<Spec>, changes: Partial<NodeSettings> = {}) {
  return resolveDns(samplePod(spec), { ...node, ...changes });
}

describe('the resolver of a pod', () => {
  const empty = { servers: [], searches: [], options: [] };
  const cases: [name: string, spec: Partial<Spec>, expected: object][] = [
    ['without a policy is the cluster’s', {}, cluster],
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, cluster],
    ['ClusterFirst with the network of the host', { dnsPolicy: 'ClusterFirst', hostNetwork: true }, hostDns],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    ['Default', { dnsPolicy: 'Default' }, hostDns],
    ['None', { dnsPolicy: 'None' }, empty],
    [
      'None with its own',
      {
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['1.1.1.1'], searches: ['a.b'], options: [{ name: 'debug' }] },
      },
      { servers: ['1.1.1.1'], searches: ['a.b'], options: ['debug'] },
    ],
    [
      'its own are added without doubles, options replace by name',
      {
        dnsConfig: {
          nameservers: ['10.96.0.10', '1.1.1.1'],
          searches: ['example.org', 'b.c'],
          options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
        },
      },
      {
        servers: ['10.96.0.10', '1.1.1.1'],
        searches: [...cluster.searches, 'b.c'],
        options: ['ndots:2', 'edns0'],
      },
    ],
  ];
  for (const [name, spec, expected] of cases) {
    test(name, () => assert.deepEqual(dns(spec), { dns: expected, warnings: [] }));
  }

  test('without a cluster domain only the searches of the host remain', () => {
    assert.deepEqual(dns({}, { clusterDomain: '' }).dns.searches, ['example.org']);
  });

  test('without servers of the cluster it is the host’s, with an event', () => {
    const found = dns({}, { clusterDns: [] });
    assert.deepEqual(found.dns, hostDns);
    assert.deepEqual(found.warnings, [
      {
        reason: 'MissingClusterDNS',
        message:
          'pod: "web_shop(7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ]);
  });

  test('more than three servers are cut, with an event', () => {
    const found = dns({ dnsConfig: { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'] } });
    assert.deepEqual(found.dns.servers, ['10.96.0.10', '1.1.1.1', '2.2.2.2']);
    assert.deepEqual(found.warnings, [
      {
        reason: 'DNSConfigForming',
        message:
          'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 1.1.1.1 2.2.2.2',
      },
    ]);
  });

  const manyCases: [name: string, searches: string[], kept: number][] = [
    ['32 domains', Array.from({ length: 40 }, (_, index) => `d${index}`), 32],
    ['2048 characters', Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(200, 'x')), 10],
    ['253 characters for each', ['a', 'b'.repeat(254), 'c'], 2],
  ];
  for (const [name, searches, kept] of manyCases) {
    test(`no more than ${name}, with an event`, () => {
      const found = dns({ dnsPolicy: 'None', dnsConfig: { searches } });
      assert.equal(found.dns.searches.length, kept);
      assert.match(found.warnings[0]?.message ?? '', /^Search Line limits were exceeded, .* is: \S/);
      assert.ok(found.dns.searches.join(' ').length <= 2048);
    });
  }

  test('exactly at the limits nothing is cut', () => {
    const searches = Array.from({ length: 32 }, (_, index) => `${index}`.padEnd(63, 'x'));
    assert.equal(searches.join(' ').length, 32 * 64 - 1);
    assert.deepEqual(dns({ dnsPolicy: 'None', dnsConfig: { searches } }).warnings, []);
  });
});

describe('the resolver of the node', () => {
  const cases: [name: string, text: string, expected: object][] = [
    ['empty', '', { servers: [], searches: [], options: [] }],
    [
      'with everything',
      'nameserver 192.0.2.1\n nameserver\t2001:db8::1 # second\nsearch a.b. c .\noptions ndots:2 edns0\n',
      { servers: ['192.0.2.1', '2001:db8::1'], searches: ['a.b', 'c', '.'], options: ['ndots:2', 'edns0'] },
    ],
    [
      'the last line counts',
      'search a\nsearch b\noptions x\noptions\n',
      { servers: [], searches: ['b'], options: [] },
    ],
    [
      'comments and unknown words',
      '#search a\n; nameserver 1\nsortlist x\nnameserver\n',
      { servers: [], searches: [], options: [] },
    ],
    [
      'lines of another system',
      'nameserver 192.0.2.1\r\nsearch a\r\n',
      { servers: ['192.0.2.1'], searches: ['a'], options: [] },
    ],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => assert.deepEqual(parseResolvConf(text), expected));
  }

  test('without a file it is what listens on the node itself', () => {
    assert.deepEqual(localDns(['192.0.2.10', '2001:db8::1', '192.0.2.11']).servers, ['127.0.0.1', '::1']);
    assert.deepEqual(localDns([]), { servers: ['127.0.0.1'], searches: ['.'], options: [] });
  });
});

function hostname(spec: Partial<Spec>, name = 'web'): string | undefined {
  const pod = samplePod(spec);
  pod.metadata = { ...pod.metadata, name };
  return sandboxConfig(sandboxInput(pod)).config.hostname;
}

describe('the host name of a pod', () => {
  const cases: [name: string, spec: Partial<Spec>, podName: string, expected: string][] = [
    ['is its name', {}, 'web', 'web'],
    ['is cut to 63 characters', {}, 'a'.repeat(70), 'a'.repeat(63)],
    ['does not end in a dot or a dash', {}, `${'a'.repeat(61)}-.b`, 'a'.repeat(61)],
    ['is what the spec says', { hostname: 'db-0' }, 'web', 'db-0'],
    [
      'is what overrides it, whatever else',
      { hostname: 'db', subdomain: 's', hostnameOverride: 'x.y.z' },
      'web',
      'x.y.z',
    ],
    ['is one label also with a subdomain', { hostname: 'db-0', subdomain: 'db' }, 'web', 'db-0'],
    [
      'is the whole name where that is asked for',
      { hostname: 'db-0', subdomain: 'db', setHostnameAsFQDN: true },
      'web',
      'db-0.db.shop.svc.cluster.local',
    ],
    ['is one label without a domain', { setHostnameAsFQDN: true }, 'web', 'web'],
    ['is empty with the network of the host', { hostNetwork: true, hostname: 'db' }, 'web', ''],
  ];
  for (const [name, spec, podName, expected] of cases) {
    test(name, () => assert.equal(hostname(spec, podName), expected));
  }

  test('a whole name of more than 64 characters is refused', () => {
    const spec = { hostname: 'a'.repeat(40), subdomain: 'db', setHostnameAsFQDN: true };
    assert.throws(() => hostname(spec), {
      message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'a'.repeat(40)}.db.shop.svc.cluster.local is too long (64 characters is the max, 66 characters requested)`,
    });
  });
});

describe('the hosts file', () => {
  const settings = { hostFileText: '127.0.0.1 localhost\n', clusterDomain: 'cluster.local' };
  const localhost = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
  ];
  const hostAliases = [
    { ip: '10.0.0.9', hostnames: ['a', 'b'] },
    { ip: '10.0.0.8', hostnames: ['c'] },
  ];
  const aliasLines = ['', '# Entries added by HostAliases.', '10.0.0.9\ta\tb', '10.0.0.8\tc'];

  test('names each address of the pod', () => {
    assert.equal(
      hostsFile(samplePod(), ['10.1.0.4', 'fd00::4'], settings),
      [...localhost, '10.1.0.4\tweb', 'fd00::4\tweb', ''].join('\n'),
    );
  });

  test('has the whole name before the short one, and the aliases', () => {
    assert.equal(
      hostsFile(samplePod({ subdomain: 'db', hostAliases }), ['10.1.0.4'], settings),
      [...localhost, '10.1.0.4\tweb.db.shop.svc.cluster.local\tweb', ...aliasLines, ''].join('\n'),
    );
  });

  test('with the network of the host is the node’s, and the aliases', () => {
    assert.equal(
      hostsFile(samplePod({ hostNetwork: true, hostAliases }), ['192.0.2.10'], settings),
      ['# Kubernetes-managed hosts file (host network).', '127.0.0.1 localhost', ...aliasLines, ''].join(
        '\n',
      ),
    );
  });
});
