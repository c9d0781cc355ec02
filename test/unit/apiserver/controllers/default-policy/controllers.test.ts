/** The roles of the reference's controllers, and what its programs read of how callers are known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject, Kind } from '../../../../../src/api/index.ts';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  configMapKind,
  namespaceKind,
  roleBindingKind,
  roleKind,
} from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { authenticationConfig, ensureDefaultPolicy } from '../../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const context = { user: controlPlaneUser, dryRun: false };

async function prepare() {
  const clock = systemClock;
  const { log } = recordedLog();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  await ensureDefaultPolicy(registry, log);
  function find<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    const resource = registry.of(kind);
    const stored = storage.get(resource.prefix(namespace) + name);
    return stored && resource.encoding.read(stored);
  }
  return { clock, log, storage, registry, find, [Symbol.asyncDispose]: () => storage.close() };
}

/** Those that the reference's controller manager 1.36 has without a cloud, as its own list of them has it. */
const controllers = [
  ...[
    'attachdetach-controller',
    'certificate-controller',
    'clusterrole-aggregation-controller',
    'cronjob-controller',
  ],
  ...[
    'daemon-set-controller',
    'deployment-controller',
    'device-taint-eviction-controller',
    'disruption-controller',
  ],
  ...['endpoint-controller', 'endpointslice-controller', 'endpointslicemirroring-controller'],
  ...[
    'ephemeral-volume-controller',
    'expand-controller',
    'generic-garbage-collector',
    'horizontal-pod-autoscaler',
  ],
  ...['job-controller', 'legacy-service-account-token-cleaner', 'namespace-controller', 'node-controller'],
  ...[
    'persistent-volume-binder',
    'pod-garbage-collector',
    'pv-protection-controller',
    'pvc-protection-controller',
  ],
  ...[
    'replicaset-controller',
    'replication-controller',
    'resource-claim-controller',
    'resourcequota-controller',
  ],
  ...[
    'root-ca-cert-publisher',
    'route-controller',
    'selinux-warning-controller',
    'service-account-controller',
  ],
  ...[
    'service-cidrs-controller',
    'service-controller',
    'statefulset-controller',
    'ttl-after-finished-controller',
  ],
  ...[
    'ttl-controller',
    'validatingadmissionpolicy-status-controller',
    'volumeattributesclass-protection-controller',
  ],
];

test('each controller of the reference has a role, and its service account has that role', async () => {
  await using world = await prepare();
  const prefix = world.registry.of(clusterRoleKind).prefix('');
  const names = world.storage
    .list(`${prefix}system:controller:`, '', 0)
    .items.map(({ key }) => key.slice(prefix.length));
  assert.deepEqual(
    names,
    controllers.map((name) => `system:controller:${name}`),
  );
  for (const name of names) {
    const { roleRef, subjects } = world.find(clusterRoleBindingKind, '', name) ?? {};
    assert.deepEqual([roleRef?.kind, roleRef?.name], ['ClusterRole', name]);
    const account = name.slice('system:controller:'.length);
    assert.deepEqual(subjects, [{ kind: 'ServiceAccount', namespace: 'kube-system', name: account }]);
  }
  const { rules = [] } = world.find(clusterRoleKind, '', 'system:controller:replicaset-controller') ?? {};
  const may = (verb: string, group: string, resource: string) =>
    rules.some(
      (rule) =>
        rule.verbs.includes(verb) && rule.apiGroups?.includes(group) && rule.resources?.includes(resource),
    );
  assert.ok(
    may('create', '', 'pods') &&
      may('update', 'apps', 'replicasets/status') &&
      may('patch', 'events.k8s.io', 'events'),
  );
  assert.ok(
    !may('update', '', 'pods') && !may('delete', 'apps', 'replicasets') && !may('get', '', 'secrets'),
  );
});

test('the scheduler and the controller manager may read how callers are known', async () => {
  await using world = await prepare();
  const { rules } = world.find(roleKind, 'kube-system', 'extension-apiserver-authentication-reader') ?? {};
  assert.deepEqual(rules, [
    {
      verbs: ['get', 'list', 'watch'],
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['extension-apiserver-authentication'],
    },
  ]);
  const name = 'system::extension-apiserver-authentication-reader';
  const { roleRef, subjects = [] } = world.find(roleBindingKind, 'kube-system', name) ?? {};
  assert.deepEqual([roleRef?.kind, roleRef?.name], ['Role', 'extension-apiserver-authentication-reader']);
  assert.deepEqual(
    subjects.map((each) => `${each.kind} ${each.name}`),
    ['User system:kube-controller-manager', 'User system:kube-scheduler'],
  );
});

test('the ConfigMap with the authorities of clients is kept; what others add to it stays', async () => {
  await using world = await prepare();
  const stop = new AbortController();
  let authorities = 'first';
  const start = (signal: AbortSignal) => {
    const service = authenticationConfig({ ...world, readClientCas: () => Promise.resolve(authorities) });
    return service.run(signal, () => undefined);
  };
  const data = () => world.find(configMapKind, 'kube-system', 'extension-apiserver-authentication')?.data;
  const untilData = (expected: object) =>
    waitFor('the ConfigMap', () => JSON.stringify(data()) === JSON.stringify(expected), {
      timeoutMs: 10_000,
    });
  const running = start(stop.signal);
  await untilData({ 'client-ca-file': 'first' });
  const configMaps = world.registry.of(configMapKind);
  const place = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
  const added = { 'client-ca-file': 'wrong', 'requestheader-username-headers': '["X-Remote-User"]' };
  await configMaps.change(
    place,
    { make: (now) => ({ ...now, data: added }), operation: 'Update' },
    '',
    context,
  );
  await untilData({ ...added, 'client-ca-file': 'first' });
  await configMaps.delete(place.namespace, place.name, {}, context);
  await untilData({ 'client-ca-file': 'first' });
  stop.abort();
  await running;
  authorities = 'second';
  const again = new AbortController();
  const second = start(again.signal);
  await untilData({ 'client-ca-file': 'second' });
  again.abort();
  await second;
});
