import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Kind, Lease, Namespace, Node, TableOptions } from '../../../../src/api/index.ts';
import {
  certificateSigningRequestKind,
  leaseKind,
  namespaceKind,
  nodeKind,
  toTable,
} from '../../../../src/api/index.ts';

const now = Date.UTC(2024, 0, 1, 12);
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const options: TableOptions = { groupSuffix: 'k8s.io', include: 'None', now, headers: true };

describe('the table of nodes', () => {
  const ready: Node = {
    metadata: {
      name: 'a',
      creationTimestamp: ago(90),
      labels: {
        'node-role.kubernetes.io/worker': '',
        'node-role.kubernetes.io/': '',
        'kubernetes.io/role': 'edge',
      },
    },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [
        { type: 'Hostname', address: 'a' },
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: 'fd00::1' },
      ],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '6.1.0',
        osImage: 'Debian 13',
        containerRuntimeVersion: 'containerd://2.1.9',
        kubeletVersion: 'v1.31.0+nodeward-0.1.0',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  };
  const cells = (node: Node) => toTable(nodeKind, [node], {}, options).rows[0]?.cells;

  test('has the columns that kubectl’s users know', () => {
    const table = toTable(nodeKind, [], { resourceVersion: '7' }, options);
    const names = table.columnDefinitions?.map(
      ({ name, priority }) => `${name}${priority === 0 ? '' : ' (wide)'}`,
    );
    assert.deepEqual(names, [
      'Name',
      'Status',
      'Roles',
      'Age',
      'Version',
      'Internal-IP (wide)',
      'External-IP (wide)',
      'OS-Image (wide)',
      'Kernel-Version (wide)',
      'Container-Runtime (wide)',
    ]);
    assert.equal(table.apiVersion, 'meta.k8s.io/v1');
    assert.deepEqual(table.metadata, { resourceVersion: '7' });
    for (const definition of table.columnDefinitions ?? []) {
      assert.deepEqual(Object.keys(definition).sort(), ['description', 'format', 'name', 'priority', 'type']);
    }
  });

  test('tells of a node that is well', () => {
    assert.deepEqual(cells(ready), [
      'a',
      'Ready',
      'edge,worker',
      '90s',
      'v1.31.0+nodeward-0.1.0',
      '10.0.0.1',
      '<none>',
      'Debian 13',
      '6.1.0',
      'containerd://2.1.9',
    ]);
  });

  test('tells of a node that is not, and of one that nobody has heard of', () => {
    const sick: Node = {
      ...ready,
      spec: { unschedulable: true },
      status: { ...ready.status, conditions: [{ type: 'Ready', status: 'Unknown' }] },
    };
    assert.equal(cells(sick)?.[1], 'NotReady,SchedulingDisabled');
    assert.deepEqual(cells({ metadata: { name: 'b' } }), [
      ...['b', 'Unknown', '<none>', '<unknown>', '', '<none>', '<none>'],
      ...['<unknown>', '<unknown>', '<unknown>'],
    ]);
  });
});

test('the tables of leases, namespaces and certificate requests', () => {
  const lease: Lease = {
    metadata: { name: 'a', creationTimestamp: ago(3 * 3600 + 60) },
    spec: { holderIdentity: 'node-a' },
  };
  assert.deepEqual(toTable(leaseKind, [lease, {}], {}, options).rows, [
    { cells: ['a', 'node-a', '3h1m'] },
    { cells: ['', '', '<unknown>'] },
  ]);
  const namespace: Namespace = { metadata: { name: 'x' }, status: { phase: 'Terminating' } };
  assert.deepEqual(toTable(namespaceKind, [namespace], {}, options).rows[0]?.cells, [
    'x',
    'Terminating',
    '<unknown>',
  ]);
  const spec = { request: '', signerName: 'example.com/x', username: 'ann', expirationSeconds: 86_400 };
  const request = (types: readonly string[], certificate?: string) => ({
    metadata: { name: 'csr' },
    spec,
    status: {
      conditions: types.map((type) => ({ type, status: 'True' })),
      ...(certificate ? { certificate } : {}),
    },
  });
  const states = [[], ['Approved'], ['Approved', 'Failed'], ['Approved', 'Denied']].map(
    (types) => toTable(certificateSigningRequestKind, [request(types)], {}, options).rows[0]?.cells,
  );
  assert.deepEqual(states[0], ['csr', '<unknown>', 'example.com/x', 'ann', '24h', 'Pending']);
  assert.deepEqual(
    states.map((cells) => cells?.at(-1)),
    ['Pending', 'Approved', 'Approved,Failed', 'Denied'],
  );
  const issued = toTable(certificateSigningRequestKind, [request(['Approved'], 'QQ==')], {}, options);
  assert.equal(issued.rows[0]?.cells.at(-1), 'Approved,Issued');
});

test('a kind without columns shows the name and when it was made', () => {
  const plain: Kind<Lease> = { ...leaseKind, columns: [] };
  const table = toTable(
    plain,
    [{ metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' } }],
    {},
    options,
  );
  assert.deepEqual(
    table.columnDefinitions?.map(({ name, type }) => [name, type]),
    [
      ['Name', 'string'],
      ['Created At', 'date'],
    ],
  );
  assert.deepEqual(table.rows, [{ cells: ['a', '2024-01-01T00:00:00Z'] }]);
});

test('each row carries of its object what was asked for', () => {
  const lease: Lease = { kind: 'Lease', metadata: { name: 'a', labels: { x: 'y' } }, spec: {} };
  const rowWith = (include: TableOptions['include']) =>
    toTable(leaseKind, [lease], {}, { ...options, groupSuffix: 'example.org', include }).rows[0]?.object;
  assert.equal(rowWith('None'), undefined);
  assert.equal(rowWith('Object'), lease);
  assert.deepEqual(rowWith('Metadata'), {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.example.org/v1',
    metadata: { name: 'a', labels: { x: 'y' } },
  });
});

test('only the first table of a watch has headers', () => {
  const table = toTable(leaseKind, [], {}, { ...options, headers: false });
  assert.ok(!('columnDefinitions' in table));
});
