import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRoleBinding, Kind } from '../../../../../src/api/index.ts';
import { clusterRoleBindingKind, roleBindingKind, toTable } from '../../../../../src/api/index.ts';
import { causesOf, received } from '../causes-of.ts';

const group = 'rbac.authorization.k8s.io';
const roleRef = { kind: 'ClusterRole', name: 'view' };
const user = { kind: 'User', name: 'jane' };
const account = { kind: 'ServiceAccount', name: 'builder', namespace: 'ci' };

const kinds: Kind<ClusterRoleBinding>[] = [roleBindingKind, clusterRoleBindingKind];
const toSubjects = (...subjects: object[]) => causesOf(clusterRoleBindingKind, { roleRef, subjects });

for (const kind of kinds) {
  describe(`a ${kind.kind}`, () => {
    test('gets the groups that were left out: of RBAC for the role, users and groups', () => {
      const subjects = [user, { ...user, kind: 'Group' }, account];
      const binding = received(kind, { roleRef, subjects });
      assert.equal(binding.roleRef.apiGroup, group);
      assert.deepEqual(
        binding.subjects?.map(({ apiGroup }) => apiGroup),
        [group, group, undefined],
      );
      assert.deepEqual(causesOf(kind, { roleRef, subjects }), []);
      assert.deepEqual(causesOf(kind, { roleRef }), [], 'and may give its role to nobody');
    });

    test('speaks of the groups of its own cluster', () => {
      const binding = received(kind, { roleRef, subjects: [user] }, 'example.org');
      assert.equal(binding.roleRef.apiGroup, 'rbac.authorization.example.org');
      assert.equal(binding.subjects?.[0]?.apiGroup, 'rbac.authorization.example.org');
      assert.deepEqual(kind.validate(binding, undefined), []);
      const { roleRef: ref, subjects } = binding;
      assert.equal(causesOf(kind, { roleRef: ref, subjects }).length, 2, 'which are none of another cluster');
    });

    test('without an apiVersion cannot be checked', () => {
      const { apiVersion: _gone, ...binding } = received(kind, { roleRef });
      const [cause] = kind.validate(kind.default(binding), undefined);
      assert.equal(`${cause?.field}: ${cause?.message}`, 'apiVersion: Required value');
    });

    test('names one role', () => {
      assert.deepEqual(causesOf(kind, {}), ['roleRef: Required value']);
      assert.deepEqual(causesOf(kind, { roleRef: {} }), [
        'roleRef.kind: Required value',
        'roleRef.name: Required value',
      ]);
      assert.deepEqual(causesOf(kind, { roleRef: { ...roleRef, name: '' } }), [
        'roleRef.name: Required value',
      ]);
      assert.deepEqual(causesOf(kind, { roleRef: { ...roleRef, name: 'a/b' } }), [
        'roleRef.name: Invalid value: "a/b": may not contain \'/\'',
      ]);
      assert.deepEqual(causesOf(kind, { roleRef: { ...roleRef, apiGroup: 'apps' } }), [
        `roleRef.apiGroup: Unsupported value: "apps": supported values: "${group}"`,
      ]);
    });

    test('keeps the role that it names, and may change its subjects', () => {
      const before = { roleRef, subjects: [user] };
      assert.deepEqual(causesOf(kind, { roleRef, subjects: [account] }, before), []);
      assert.deepEqual(causesOf(kind, { roleRef: { ...roleRef, apiGroup: group } }, before), []);
      assert.deepEqual(causesOf(kind, { roleRef: { ...roleRef, name: 'edit' } }, before), [
        `roleRef: Invalid value: {"kind":"ClusterRole","name":"edit","apiGroup":"${group}"}: cannot change roleRef`,
      ]);
    });

    test('warns of a namespace of a user or group, which has none', () => {
      const subjects = [
        user,
        { ...user, namespace: 'a' },
        { kind: 'Group', name: 'g', namespace: 'b' },
        account,
      ];
      assert.deepEqual(causesOf(kind, { roleRef, subjects }), []);
      assert.deepEqual(kind.warnings(received(kind, { roleRef, subjects }), undefined), [
        'subjects[1].namespace: the User "jane" belongs to no namespace',
        'subjects[2].namespace: the Group "g" belongs to no namespace',
      ]);
      assert.deepEqual(kind.warnings(received(kind, { roleRef }), undefined), []);
    });

    test('shows its role and age, and in a wide table its subjects', () => {
      const subjects = [user, { ...user, name: 'joe' }, { kind: 'Group', name: 'devs' }, account];
      const now = Date.parse('2025-01-01T00:01:00Z');
      const metadata = { name: 'b', creationTimestamp: '2025-01-01T00:00:00Z' };
      const table = toTable(
        kind,
        [received(kind, { metadata, roleRef, subjects })],
        {},
        {
          groupSuffix: 'k8s.io',
          include: 'None',
          now,
          headers: true,
        },
      );
      assert.deepEqual(
        table.columnDefinitions?.map(({ name, priority }) => `${name} ${priority}`),
        ['Name 0', 'Role 0', 'Age 0', 'Users 1', 'Groups 1', 'ServiceAccounts 1'],
      );
      assert.deepEqual(table.rows[0]?.cells, [
        'b',
        'ClusterRole/view',
        '60s',
        'jane, joe',
        'devs',
        'ci/builder',
      ]);
    });
  });
}

describe('the role of a binding', () => {
  test('is a Role of the namespace or a ClusterRole for a RoleBinding', () => {
    assert.deepEqual(causesOf(roleBindingKind, { roleRef: { kind: 'Role', name: 'r' } }), []);
    assert.deepEqual(causesOf(roleBindingKind, { roleRef: { kind: 'Group', name: 'r' } }), [
      'roleRef.kind: Unsupported value: "Group": supported values: "Role", "ClusterRole"',
    ]);
  });

  test('is a ClusterRole for a ClusterRoleBinding', () => {
    assert.deepEqual(causesOf(clusterRoleBindingKind, { roleRef: { kind: 'Role', name: 'r' } }), [
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    ]);
  });
});

describe('a subject', () => {
  test('is a user, a group or a service account', () => {
    assert.deepEqual(toSubjects(user, { kind: 'Group', name: 'system:masters' }, account), []);
    assert.deepEqual(toSubjects(user, { kind: 'Robot', name: 'r' }), [
      'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ]);
    assert.deepEqual(toSubjects({}), [
      'subjects[0].kind: Required value',
      'subjects[0].name: Required value',
    ]);
  });

  test('has a name', () => {
    for (const kind of ['User', 'Group', 'ServiceAccount']) {
      assert.deepEqual(toSubjects({ kind, name: '', namespace: 'ci' }), ['subjects[0].name: Required value']);
    }
    assert.deepEqual(toSubjects({ ...user, name: 'Jane Doe <jane@example.com>' }), [], 'of any form');
  });

  test('that is a service account has a namespace and the name of one, and no group', () => {
    assert.deepEqual(toSubjects({ ...account, apiGroup: '' }), []);
    const { namespace: _none, ...nowhere } = account;
    assert.deepEqual(toSubjects(nowhere), ['subjects[0].namespace: Required value']);
    assert.deepEqual(causesOf(roleBindingKind, { roleRef, subjects: [nowhere] }), [], 'its own is meant');
    assert.deepEqual(toSubjects({ ...account, apiGroup: group }), [
      `subjects[0].apiGroup: Unsupported value: "${group}": supported values: ""`,
    ]);
    const [wrong = ''] = toSubjects({ ...account, name: 'Builder' });
    assert.match(wrong, /^subjects\[0\]\.name: Invalid value: "Builder": a lowercase RFC 1123 subdomain/);
  });

  test('that is a user or group belongs to the group of RBAC', () => {
    for (const kind of ['User', 'Group']) {
      assert.deepEqual(toSubjects({ kind, name: 'a', apiGroup: 'apps' }), [
        `subjects[0].apiGroup: Unsupported value: "apps": supported values: "${group}"`,
      ]);
    }
  });
});
