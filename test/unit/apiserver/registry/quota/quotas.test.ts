/** What ResourceQuotas count, what they refuse, and that what was taken comes back. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startServer } from '../../support/index.ts';

const server = await startServer({ gates: { InPlacePodVerticalScaling: true } });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

let count = 0;
type Quantities = Record<string, string>;

/** A namespace of its own with one quota, whose status is known. */
async function namespaceWith(hard: Quantities, spec: object = {}): Promise<string> {
  const namespace = `quota-${++count}`;
  await admin.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  await admin.must('POST', path, { metadata: { name: 'q' }, spec: { hard, ...spec } });
  await usedIs(namespace, (used) => Object.keys(used).length > 0);
  return namespace;
}

async function usedIn(namespace: string): Promise<Quantities> {
  const { status } = await admin.must('GET', `/api/v1/namespaces/${namespace}/resourcequotas/q`);
  const used: unknown = status?.['used'];
  return Object.fromEntries(Object.entries(used ?? {}).map(([name, value]) => [name, String(value)]));
}

/** Waits until what is used fits. */
async function usedIs(
  namespace: string,
  wanted: Quantities | ((used: Quantities) => boolean),
): Promise<void> {
  const fits = (used: Quantities) =>
    typeof wanted === 'function'
      ? wanted(used)
      : Object.entries(wanted).every(([name, value]) => used[name] === value);
  for (let used: Quantities = {}, tries = 0; ; tries++) {
    used = await usedIn(namespace);
    if (fits(used)) return;
    assert.ok(tries < 2000, `used stays ${JSON.stringify(used)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const path = (namespace: string, resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
const container = (resources: object = {}, name = 'main') => ({ name, image: 'app:1', resources });
const pod = (spec: object = {}, name = 'p') => ({
  metadata: { name },
  spec: { containers: [container()], ...spec },
});
const resources = (requests: Quantities, limits: Quantities = {}) => ({
  containers: [container({ requests, limits })],
});
const claim = (storage: string, more: object = {}) => ({
  metadata: { name: 'c' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more },
});
const affinity = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', namespaces: ['other'], labelSelector: {} },
    ],
  },
};

describe('an object takes', () => {
  const many = {
    ...{ cpu: '9', memory: '9Gi', 'limits.cpu': '9', 'requests.memory': '9Gi', pods: '9', 'count/pods': '9' },
    ...{ 'limits.memory': '9Gi', 'ephemeral-storage': '9Gi', 'requests.example.com/gpu': '9' },
    ...{ 'hugepages-2Mi': '1Gi' },
  };
  const cases: readonly [
    what: string,
    hard: Quantities,
    kind: string,
    body: object,
    used: Quantities,
    spec?: object,
  ][] = [
    [
      'a pod, what it requests and limits',
      many,
      'pods',
      pod(
        resources(
          {
            cpu: '500m',
            memory: '1Gi',
            'ephemeral-storage': '2Gi',
            'example.com/gpu': '2',
            'hugepages-2Mi': '4Mi',
          },
          { cpu: '1', memory: '2Gi', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' },
        ),
      ),
      {
        ...{ cpu: '500m', memory: '1Gi', 'limits.cpu': '1', 'requests.memory': '1Gi', pods: '1' },
        ...{ 'count/pods': '1', 'limits.memory': '2Gi', 'ephemeral-storage': '2Gi' },
        ...{ 'requests.example.com/gpu': '2', 'hugepages-2Mi': '4Mi' },
      },
    ],
    [
      'a pod, the larger of its init containers',
      { cpu: '9' },
      'pods',
      pod({ ...resources({ cpu: '1' }), initContainers: [container({ requests: { cpu: '2' } }, 'i')] }),
      { cpu: '2' },
    ],
    [
      'a pod, its resources as a whole',
      { cpu: '9' },
      'pods',
      pod({ ...resources({ cpu: '1' }), resources: { requests: { cpu: '3' } } }),
      { cpu: '3' },
    ],
    [
      'a service, its ports on the nodes',
      { services: '9', 'services.nodeports': '9', 'services.loadbalancers': '9' },
      'services',
      {
        metadata: { name: 's' },
        spec: {
          type: 'NodePort',
          ports: [
            { name: 'a', port: 1 },
            { name: 'b', port: 2 },
          ],
        },
      },
      { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '0' },
    ],
    [
      'a balanced service without ports on the nodes',
      { 'services.nodeports': '9', 'services.loadbalancers': '9' },
      'services',
      {
        metadata: { name: 's' },
        spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 1 }] },
      },
      { 'services.nodeports': '0', 'services.loadbalancers': '1' },
    ],
    [
      'a claim, by its class, too',
      {
        persistentvolumeclaims: '9',
        'requests.storage': '9Gi',
        'fast.storageclass.storage.k8s.io/requests.storage': '9Gi',
        'slow.storageclass.storage.k8s.io/persistentvolumeclaims': '9',
      },
      'persistentvolumeclaims',
      claim('2Gi', { storageClassName: 'fast' }),
      {
        persistentvolumeclaims: '1',
        'requests.storage': '2Gi',
        'fast.storageclass.storage.k8s.io/requests.storage': '2Gi',
        'slow.storageclass.storage.k8s.io/persistentvolumeclaims': '0',
      },
    ],
    [
      'a secret, its count',
      { secrets: '9', 'count/secrets': '9' },
      'secrets',
      { metadata: { name: 's' } },
      { secrets: '1', 'count/secrets': '1' },
    ],
    [
      'only what the scope has: NotTerminating',
      { pods: '9' },
      'pods',
      pod(),
      { pods: '1' },
      { scopes: ['NotTerminating'] },
    ],
    [
      'only what the scope has: Terminating',
      { pods: '9' },
      'pods',
      pod(),
      { pods: '0' },
      { scopes: ['Terminating'] },
    ],
    [
      'with a deadline: Terminating',
      { pods: '9' },
      'pods',
      pod({ activeDeadlineSeconds: 9 }),
      { pods: '1' },
      { scopes: ['Terminating'] },
    ],
    ['without requests: BestEffort', { pods: '9' }, 'pods', pod(), { pods: '1' }, { scopes: ['BestEffort'] }],
    [
      'with requests: BestEffort',
      { pods: '9' },
      'pods',
      pod(resources({ cpu: '1' })),
      { pods: '0' },
      { scopes: ['BestEffort'] },
    ],
    [
      'with requests: NotBestEffort',
      { pods: '9' },
      'pods',
      pod(resources({ cpu: '1' })),
      { pods: '1' },
      { scopes: ['NotBestEffort'] },
    ],
    [
      'with affinity: CrossNamespacePodAffinity',
      { pods: '9' },
      'pods',
      pod({ affinity }),
      { pods: '1' },
      { scopes: ['CrossNamespacePodAffinity'] },
    ],
    [
      'without affinity: CrossNamespacePodAffinity',
      { pods: '9' },
      'pods',
      pod(),
      { pods: '0' },
      { scopes: ['CrossNamespacePodAffinity'] },
    ],
    ...(
      [
        ['In', ['system-node-critical'], '1'],
        ['In', ['other'], '0'],
        ['NotIn', ['other'], '1'],
        ['NotIn', ['system-node-critical'], '0'],
        ['Exists', undefined, '1'],
        ['DoesNotExist', undefined, '0'],
      ] as const
    ).map(([operator, values, pods]): [string, Quantities, string, object, Quantities, object] => [
      `of a class: PriorityClass ${operator} ${values ?? ''}`,
      { pods: '9' },
      'pods',
      pod({ priorityClassName: 'system-node-critical' }),
      { pods },
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }],
        },
      },
    ]),
    [
      'of attributes: VolumeAttributesClass',
      { persistentvolumeclaims: '9' },
      'persistentvolumeclaims',
      claim('1Gi', { volumeAttributesClassName: 'gold' }),
      { persistentvolumeclaims: '1' },
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }],
        },
      },
    ],
  ];
  for (const [what, hard, kind, body, used, spec] of cases)
    test(`${what}, and gives it back`, async () => {
      const namespace = await namespaceWith(hard, spec);
      const { metadata } = await admin.must('POST', path(namespace, kind), body);
      assert.partialDeepStrictEqual(await usedIn(namespace), used);
      await usedIs(namespace, used);
      const before = Object.fromEntries(Object.keys(used).map((name) => [name, '0']));
      if (kind === 'persistentvolumeclaims')
        await admin.request('PATCH', `${path(namespace, kind)}/${metadata?.name}`, {
          body: { metadata: { finalizers: null } },
          headers: { 'content-type': 'application/merge-patch+json' },
        });
      await admin.must('DELETE', `${path(namespace, kind)}/${metadata?.name}`);
      await usedIs(namespace, before);
    });
});

describe('a write is refused', () => {
  const cases: readonly [what: string, hard: Quantities, body: object, why: string][] = [
    [
      'that is too much',
      { cpu: '1', memory: '1Gi', pods: '0' },
      pod(resources({ cpu: '1500m', memory: '1Gi' })),
      'exceeded quota: q, requested: cpu=1500m,pods=1, used: cpu=0,pods=0, limited: cpu=1,pods=0',
    ],
    [
      'that does not say what it takes',
      { cpu: '1', 'limits.memory': '1Gi' },
      pod({ containers: [container({}, 'b'), container({}, 'a')] }),
      'failed quota: q: must specify cpu for: a,b; limits.memory for: a,b',
    ],
    [
      'that says it only of some containers',
      { memory: '1Gi' },
      pod({ ...resources({ memory: '1Mi' }), initContainers: [container({}, 'i')] }),
      'failed quota: q: must specify memory for: i',
    ],
  ];
  for (const [what, hard, body, why] of cases)
    test(what, async () => {
      const namespace = await namespaceWith(hard);
      for (const query of ['', '?dryRun=All']) {
        const { message, details } = await admin.refused(
          'Forbidden',
          'POST',
          path(namespace, 'pods') + query,
          { body },
        );
        assert.equal(message, `pods "p" is forbidden: ${why}`);
        assert.deepEqual([details?.name, details?.kind], ['p', 'pods']);
      }
    });

  test('by one quota of several, and the others get back what they gave', async () => {
    const namespace = await namespaceWith({ pods: '5' });
    const second = { metadata: { name: 'r' }, spec: { hard: { 'count/pods': '1' } } };
    await admin.must('POST', path(namespace, 'resourcequotas'), second);
    await admin.must('POST', path(namespace, 'pods'), pod({}, 'first'));
    const refused = await admin.refused('Forbidden', 'POST', path(namespace, 'pods'), { body: pod() });
    assert.match(
      refused.message ?? '',
      /exceeded quota: r, requested: count\/pods=1, used: count\/pods=1, limited/,
    );
    await usedIs(namespace, { pods: '1' });
  });

  test('to resize beyond it; a smaller one is allowed and counted', async () => {
    const namespace = await namespaceWith({ 'requests.cpu': '2' });
    await admin.must('POST', path(namespace, 'pods'), pod(resources({ cpu: '1' })));
    const resize = (cpu: string) => ({
      body: { spec: { containers: [container({ requests: { cpu } })] } },
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    });
    const at = `${path(namespace, 'pods')}/p/resize`;
    const { message } = await admin.refused('Forbidden', 'PATCH', at, resize('3'));
    assert.equal(
      message,
      'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=1, limited: requests.cpu=2',
    );
    assert.equal((await admin.request('PATCH', at, resize('2'))).code, 200);
    assert.deepEqual(await usedIn(namespace), { 'requests.cpu': '2' });
    assert.equal((await admin.request('PATCH', at, resize('500m'))).code, 200);
    await usedIs(namespace, { 'requests.cpu': '500m' });
  });

  test('to expand a claim beyond it', async () => {
    const namespace = await namespaceWith({ 'requests.storage': '2Gi' });
    const expandable = {
      metadata: { name: `expandable-${count}` },
      provisioner: 'example.com/p',
      allowVolumeExpansion: true,
    };
    await admin.must('POST', '/apis/storage.k8s.io/v1/storageclasses', expandable);
    const at = path(namespace, 'persistentvolumeclaims');
    const wanted = claim('1Gi', { storageClassName: expandable.metadata.name, volumeName: 'v' });
    const made = await admin.must('POST', at, wanted);
    const bound = { ...made, status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
    await admin.must('PUT', `${at}/c/status`, bound);
    const grow = (storage: string) => ({
      body: { spec: { resources: { requests: { storage } } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    const { message } = await admin.refused('Forbidden', 'PATCH', `${at}/c`, grow('3Gi'));
    assert.match(
      message ?? '',
      /exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=1Gi, limited/,
    );
    assert.equal((await admin.request('PATCH', `${at}/c`, grow('2Gi'))).code, 200);
    assert.deepEqual(await usedIn(namespace), { 'requests.storage': '2Gi' });
  });
});

test('what is given back can be taken at once', async () => {
  const namespace = await namespaceWith({ secrets: '1' });
  const body = { metadata: { name: 'c' } };
  for (let round = 0; round < 20; round++) {
    await admin.must('POST', path(namespace, 'secrets'), body);
    await admin.refused('Forbidden', 'POST', path(namespace, 'secrets'), {
      body: { metadata: { name: 'd' } },
    });
    await admin.must('DELETE', `${path(namespace, 'secrets')}/c`);
  }
});

test('what a write that fails was charged comes back', async () => {
  const namespace = await namespaceWith({ secrets: '9' });
  const body = { metadata: { name: 'c' } };
  await admin.must('POST', path(namespace, 'secrets'), body);
  await admin.refused('AlreadyExists', 'POST', path(namespace, 'secrets'), { body });
  await usedIs(namespace, { secrets: '1' });
});

test('a change of the quota is counted, and a pod that has ended takes only its count', async () => {
  const namespace = await namespaceWith({ pods: '1', 'count/pods': '9' });
  const made = await admin.must('POST', path(namespace, 'pods'), pod());
  await admin.must('PUT', `${path(namespace, 'pods')}/p/status`, {
    ...made,
    metadata: { name: 'p' },
    status: { phase: 'Succeeded' },
  });
  await usedIs(namespace, { pods: '0', 'count/pods': '1' });
  const quota = await admin.must('GET', `${path(namespace, 'resourcequotas')}/q`);
  const spec = { hard: { secrets: '3' } };
  await admin.must('PUT', `${path(namespace, 'resourcequotas')}/q`, { ...quota, spec });
  await admin.must('POST', path(namespace, 'secrets'), { metadata: { name: 'c' } });
  await usedIs(namespace, (used) => JSON.stringify(used) === '{"secrets":"1"}');
});

test('of 50 writers at once exactly as many succeed as there is room', async () => {
  const namespace = await namespaceWith({ secrets: '17', 'count/secrets': '20' });
  const codes = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const send = { body: { metadata: { name: `c-${index}` } } };
      return (await admin.request('POST', path(namespace, 'secrets'), send)).code;
    }),
  );
  assert.equal(codes.filter((code) => code === 201).length, 17);
  assert.equal(codes.filter((code) => code === 403).length, 33);
  await usedIs(namespace, { secrets: '17', 'count/secrets': '17' });
  const tidy = async () =>
    (await admin.must('GET', `${path(namespace, 'resourcequotas')}/q`)).metadata?.annotations === undefined;
  for (let tries = 0; !(await tidy()); tries++) {
    assert.ok(tries < 1000, 'the notes of the writes stay');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});
