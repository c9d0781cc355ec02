import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  namespaceKind,
  roleBindingKind,
  roleKind,
} from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { createRbac } from '../../../../../src/apiserver/authz/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { jane, rule, to, toJane } from './ask.ts';
import { group } from './policy.ts';

const context = { user: controlPlaneUser, dryRun: false };
const apiVersion = `${group}/v1`;
const clusterRole = { apiGroup: group, kind: 'ClusterRole', name: 'reader' };
const role = { ...clusterRole, kind: 'Role' };
const subjects = toJane.map((each) => ({ ...each, apiGroup: group }));

async function prepare() {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'team' } }, context);
  const rbac = createRbac(() => registry, 'k8s.io');
  const verdict = () => rbac.authorizer.authorize(jane, to()).verdict;
  return { registry, rbac, verdict, [Symbol.asyncDispose]: () => storage.close() };
}

const metadata = { name: 'reader' };
const local = { ...metadata, namespace: 'team' };

describe('what is stored', () => {
  test('before anybody asks counts', async () => {
    await using world = await prepare();
    await world.registry.of(clusterRoleKind).create('', { metadata, rules: [rule()] }, context);
    const given = { apiVersion, metadata, roleRef: clusterRole, subjects };
    await world.registry.of(clusterRoleBindingKind).create('', given, context);
    world.rbac.load();
    assert.equal(world.verdict(), 'allow');
  });

  test('afterwards counts as soon as it was written, of all four kinds', async () => {
    await using world = await prepare();
    world.rbac.load();
    const [roles, bindings] = [world.registry.of(roleKind), world.registry.of(roleBindingKind)];
    await bindings.create('team', { apiVersion, metadata: local, roleRef: role, subjects }, context);
    assert.deepEqual(world.rbac.authorizer.authorize(jane, to()).errors, [
      `role.${group} "reader" not found`,
    ]);
    await roles.create('team', { metadata: local, rules: [rule()] }, context);
    assert.equal(world.verdict(), 'allow');
    await roles.update('team', 'reader', { metadata: local, rules: [] }, '', context);
    assert.equal(world.verdict(), 'noOpinion');
    await roles.delete('team', 'reader', {}, context);
    await bindings.delete('team', 'reader', {}, context);
    assert.deepEqual(world.rbac.authorizer.authorize(jane, to()).errors, []);
    const [clusterRoles, clusterBindings] = [
      world.registry.of(clusterRoleKind),
      world.registry.of(clusterRoleBindingKind),
    ];
    await clusterRoles.create('', { metadata, rules: [rule()] }, context);
    await clusterBindings.create('', { apiVersion, metadata, roleRef: clusterRole, subjects }, context);
    assert.equal(world.verdict(), 'allow');
    await clusterRoles.delete('', 'reader', {}, context);
    assert.equal(world.verdict(), 'noOpinion');
  });

  test('by a dry run does not count', async () => {
    await using world = await prepare();
    await world.registry.of(clusterRoleKind).create('', { metadata, rules: [rule()] }, context);
    const given = { apiVersion, metadata, roleRef: clusterRole, subjects };
    await world.registry.of(clusterRoleBindingKind).create('', given, { ...context, dryRun: true });
    assert.equal(world.verdict(), 'noOpinion');
  });
});
