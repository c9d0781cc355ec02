import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRole, ClusterRoleBinding } from '../../../../../src/api/index.ts';
import { clusterRoleBindingKind, clusterRoleKind, namespaceKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { ensureDefaultPolicy } from '../../../../../src/apiserver/controllers/index.ts';
import type { Resource } from '../../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const context = { user: controlPlaneUser, dryRun: false };
const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';

/** A store that was started once. */
async function prepare(groupSuffix = 'k8s.io') {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix, admission: [] });
  const { log, text } = recordedLog('json', 'info');
  const start = () => ensureDefaultPolicy(registry, log);
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  await start();
  const roles: Resource<ClusterRole> = registry.of(clusterRoleKind);
  const bindings: Resource<ClusterRoleBinding> = registry.of(clusterRoleBindingKind);
  const role = (name: string) => roles.encoding.read(roles.get('', name));
  const binding = (name: string) => bindings.encoding.read(bindings.get('', name));
  return {
    storage,
    roles,
    bindings,
    role,
    binding,
    start,
    logged: text,
    changeRole: (name: string, change: (was: ClusterRole) => ClusterRole) =>
      roles.update('', name, change(role(name)), '', context),
    changeBinding: (name: string, change: (was: ClusterRoleBinding) => ClusterRoleBinding) =>
      bindings.update('', name, change(binding(name)), '', context),
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

describe('the first start', () => {
  test('makes the roles and bindings that there always are', async () => {
    await using world = await prepare();
    const { metadata, rules } = world.role('cluster-admin');
    assert.deepEqual(metadata?.labels, { 'kubernetes.io/bootstrapping': 'rbac-defaults' });
    assert.deepEqual(metadata?.annotations, { [autoUpdate]: 'true' });
    assert.deepEqual(rules, [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]);
    for (const name of ['admin', 'edit', 'view']) {
      const key = `rbac.authorization.k8s.io/aggregate-to-${name}`;
      assert.deepEqual(world.role(name).aggregationRule, {
        clusterRoleSelectors: [{ matchLabels: { [key]: 'true' } }],
      });
      assert.equal(world.role(`system:aggregate-to-${name}`).metadata?.labels?.[key], 'true');
    }
    const names = (subjects: ClusterRoleBinding['subjects'] = []) =>
      subjects.map(({ kind, name }) => `${kind} ${name}`);
    assert.deepEqual(names(world.binding('cluster-admin').subjects), ['Group system:masters']);
    assert.deepEqual(names(world.binding('system:discovery').subjects), ['Group system:authenticated']);
    assert.deepEqual(names(world.binding('system:public-info-viewer').subjects), [
      'Group system:authenticated',
      'Group system:unauthenticated',
    ]);
    assert.deepEqual(names(world.binding('system:node').subjects), []);
    assert.equal(world.logged(), '');
  });

  test('makes these and no others', async () => {
    await using world = await prepare();
    const shown = (resource: Resource<ClusterRole> | Resource<ClusterRoleBinding>) =>
      resource.storage
        .list(resource.prefix(''), '', 0)
        .items.map(({ key }) => key.slice(resource.prefix('').length))
        .filter((name) => !name.startsWith('system:controller:')); // controllers.test.ts has these
    const ofCertificates = (...names: string[]) => names.map((name) => `system:certificates.k8s.io:${name}`);
    assert.deepEqual(shown(world.roles).toSorted(), [
      ...['admin', 'cluster-admin', 'edit', 'nodeward:access-reader'],
      ...['system:aggregate-to-admin', 'system:aggregate-to-edit', 'system:aggregate-to-view'],
      'system:aggregated-metrics-reader',
      ...['system:auth-delegator', 'system:basic-user'],
      ...ofCertificates(
        'certificatesigningrequests:nodeclient',
        'certificatesigningrequests:selfnodeclient',
        'kube-apiserver-client-approver',
        'kube-apiserver-client-kubelet-approver',
        'kubelet-serving-approver',
        'legacy-unknown-approver',
      ),
      ...['system:cluster-trust-bundle-discovery', 'system:discovery', 'system:kube-controller-manager'],
      ...['system:kube-scheduler', 'system:kubelet-api-admin', 'system:monitoring', 'system:node'],
      ...['system:node-bootstrapper', 'system:node-problem-detector', 'system:public-info-viewer'],
      ...['system:service-account-issuer-discovery', 'system:volume-scheduler', 'view'],
    ]);
    assert.deepEqual(shown(world.bindings).toSorted(), [
      ...['cluster-admin', 'system:basic-user'],
      ...ofCertificates('certificatesigningrequests:nodeclient', 'certificatesigningrequests:selfnodeclient'),
      ...['system:cluster-trust-bundle-discovery', 'system:discovery', 'system:kube-controller-manager'],
      ...['system:kube-scheduler', 'system:kubelet-api-admin'],
      ...['system:monitoring', 'system:node', 'system:node-bootstrapper'],
      ...['system:public-info-viewer', 'system:service-account-issuer-discovery'],
      'system:volume-scheduler',
    ]);
    assert.deepEqual(world.role('system:certificates.k8s.io:kubelet-serving-approver').rules, [
      {
        verbs: ['approve'],
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['kubernetes.io/kubelet-serving'],
      },
    ]);
  });

  test('names groups with the suffix of the cluster', async () => {
    await using world = await prepare('example.org');
    const { roleRef, subjects = [] } = world.binding('system:discovery');
    assert.equal(roleRef.apiGroup, 'rbac.authorization.example.org');
    assert.equal(subjects[0]?.apiGroup, 'rbac.authorization.example.org');
    const groups = world.role('system:basic-user').rules?.map(({ apiGroups = [] }) => apiGroups[0]);
    assert.deepEqual(groups, ['authorization.example.org', 'authentication.example.org']);
    assert.ok(world.role('system:certificates.example.org:certificatesigningrequests:nodeclient'));
    assert.equal(world.logged(), '');
  });
});

describe('a later start', () => {
  test('writes nothing where nothing is missing', async () => {
    await using world = await prepare();
    const before = world.storage.applied;
    await world.start();
    assert.equal(world.storage.applied, before);
  });

  test('gives back what was taken, and leaves what was added', async () => {
    await using world = await prepare();
    const more = { verbs: ['get'], nonResourceURLs: ['/more'] };
    await world.changeRole('system:discovery', (was) => ({
      ...was,
      metadata: { name: 'system:discovery' },
      rules: [more],
    }));
    const joe = { kind: 'User', name: 'joe', apiGroup: 'rbac.authorization.k8s.io' };
    await world.changeBinding('system:discovery', (was) => ({ ...was, subjects: [joe] }));
    await world.bindings.delete('', 'system:monitoring', {}, context);
    await world.changeRole('view', ({ aggregationRule: _rule, ...was }) => was);
    await world.start();
    const { rules = [], metadata } = world.role('system:discovery');
    assert.deepEqual(rules[0], more);
    assert.equal(rules[1]?.nonResourceURLs?.includes('/api'), true);
    assert.equal(metadata?.labels?.['kubernetes.io/bootstrapping'], 'rbac-defaults');
    const subjects = world.binding('system:discovery').subjects ?? [];
    assert.deepEqual(
      subjects.map(({ name }) => name),
      ['joe', 'system:authenticated'],
    );
    assert.equal(world.binding('system:monitoring').subjects?.length, 1);
    assert.equal(world.role('view').aggregationRule?.clusterRoleSelectors?.length, 1);
  });

  test('leaves a role that has more than it needs, in whatever rules', async () => {
    await using world = await prepare();
    const wide = { verbs: ['*'], nonResourceURLs: ['*'] };
    await world.changeRole('system:discovery', (was) => ({ ...was, rules: [wide] }));
    const before = world.storage.applied;
    await world.start();
    assert.equal(world.storage.applied, before);
  });

  test('makes a binding anew that refers to another role', async () => {
    await using world = await prepare();
    const was = world.binding('system:monitoring');
    await world.bindings.delete('', 'system:monitoring', {}, context);
    const roleRef = { ...was.roleRef, name: 'cluster-admin' };
    const { resourceVersion: _version, uid: _uid, ...metadata } = was.metadata ?? {};
    const subjects = [{ apiGroup: roleRef.apiGroup, kind: 'User', name: 'bob' }];
    await world.bindings.create('', { ...was, metadata, roleRef, subjects }, context);
    await world.start();
    assert.equal(world.binding('system:monitoring').roleRef.name, 'system:monitoring');
    assert.deepEqual(world.binding('system:monitoring').subjects, was.subjects, 'bob was given another role');
  });

  test('touches nothing that says autoupdate "false"', async () => {
    await using world = await prepare();
    const annotations = { [autoUpdate]: 'false' };
    for (const name of ['system:discovery', 'edit']) {
      await world.changeRole(name, (was) => ({ ...was, metadata: { name, annotations }, rules: [] }));
    }
    await world.changeBinding('system:discovery', (was) => ({
      ...was,
      metadata: { name: 'system:discovery', annotations },
      subjects: [],
    }));
    const before = world.storage.applied;
    await world.start();
    assert.equal(world.storage.applied, before);
    assert.deepEqual(world.role('system:discovery').rules, []);
  });

  test('goes on where the store takes no writes', async () => {
    await using world = await prepare();
    await world.roles.delete('', 'view', {}, context);
    await world.bindings.delete('', 'cluster-admin', {}, context);
    await world.storage.close();
    await world.start();
    assert.equal(world.logged().split('could not be brought up to date').length - 1, 2);
  });
});
