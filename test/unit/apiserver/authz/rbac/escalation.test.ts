import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { named, namespaces, startServer } from '../../support/index.ts';
import { binding, bindingsIn, clusterBindings, clusterRoles, rbac, role, rolesIn, user } from './served.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const jane = server.holder(await server.issue({ commonName: 'jane', organizations: ['devs'] }));
const rbacGroup = 'rbac.authorization.k8s.io';
const pods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const secrets = { ...pods, resources: ['secrets'] };
const paths = { verbs: ['get'], nonResourceURLs: ['/metrics'] };
const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const write = ['create', 'update', 'patch', 'get', 'list', 'delete'];
const policy = {
  verbs: write,
  apiGroups: [rbacGroup],
  resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
};
const who = 'user "jane" (groups=["devs" "system:authenticated"])';
const attempt = `${who} is attempting to grant RBAC permissions not currently held:`;

before(async () => {
  await admin.must('POST', namespaces, named('team'));
  await admin.must('POST', clusterRoles, role('policy-writer', policy));
  await admin.must('POST', clusterRoles, role('pod-reader', pods));
  await admin.must('POST', clusterRoles, role('secret-reader', secrets));
  await admin.must('POST', clusterBindings, binding('writers', 'ClusterRole', 'policy-writer', user('jane')));
  await admin.must('POST', bindingsIn('team'), binding('readers', 'ClusterRole', 'pod-reader', user('jane')));
});

/** Gives jane a rule everywhere, for as long as `work` takes. */
async function having(rule: object, work: () => Promise<void>): Promise<void> {
  const given = { ...binding('for-now', 'ClusterRole', 'for-now', user('jane')) };
  await admin.must('POST', clusterRoles, { ...named('for-now'), rules: [rule] });
  await admin.must('POST', clusterBindings, given);
  try {
    await work();
  } finally {
    for (const path of [clusterBindings, clusterRoles]) await admin.must('DELETE', `${path}/for-now`);
  }
}

describe('whoever may write roles', () => {
  test('makes and changes one with what they have there', async () => {
    await jane.must('POST', rolesIn('team'), role('mine', pods));
    await jane.must('PUT', `${rolesIn('team')}/mine`, role('mine', { ...pods, verbs: ['get'] }));
    await jane.must('DELETE', `${rolesIn('team')}/mine`);
  });

  test('makes none with more, and is told what is missing', async () => {
    const body = role(
      'more',
      pods,
      { ...secrets, resourceNames: ['x'] },
      { ...pods, verbs: ['get', 'delete'] },
    );
    const { message, details } = await jane.refused('Forbidden', 'POST', rolesIn('team'), { body });
    assert.equal(
      message,
      `roles.${rbacGroup} "more" is forbidden: ${attempt}\n` +
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["x"], Verbs:["get" "list"]}',
    );
    assert.deepEqual(details, { name: 'more', group: rbacGroup, kind: 'roles' });
    await jane.refused('Forbidden', 'POST', `${rolesIn('team')}?dryRun=All`, { body });
  });

  test('cannot give in the cluster what they have in a namespace, nor in another', async () => {
    await jane.refused('Forbidden', 'POST', clusterRoles, { body: role('everywhere', pods) });
    await jane.refused('Forbidden', 'POST', rolesIn('default'), { body: role('elsewhere', pods) });
    const { message } = await jane.refused('Forbidden', 'POST', clusterRoles, { body: role('paths', paths) });
    assert.match(message ?? '', /\{NonResourceURLs:\["\/metrics"\], Verbs:\["get"\]\}$/);
  });

  test('cannot widen one by any way of writing', async () => {
    await admin.must('POST', rolesIn('team'), role('wide', pods));
    const path = `${rolesIn('team')}/wide`;
    await jane.refused('Forbidden', 'PUT', path, { body: role('wide', pods, secrets) });
    await jane.refused('Forbidden', 'PUT', `${rolesIn('team')}/new`, { body: role('new', secrets) });
    const patch = { rules: [pods, secrets] };
    for (const type of ['merge-patch+json', 'strategic-merge-patch+json']) {
      const headers = { 'content-type': `application/${type}` };
      const { code } = await jane.request('PATCH', path, { body: patch, headers });
      assert.equal(code, 403, type);
    }
    const { rules } = { rules: [pods], ...(await admin.must('GET', path)) };
    assert.deepEqual(rules, [pods]);
  });

  test('may see to finalizers and owners of one that has more, but not to its labels', async () => {
    const had = await admin.must('POST', rolesIn('team'), role('kept', secrets));
    const path = `${rolesIn('team')}/kept`;
    const finalizers = ['example.org/kept'];
    await jane.must('PUT', path, { ...role('kept', secrets), metadata: { ...had.metadata, finalizers } });
    const labels = { a: 'b' };
    await jane.refused('Forbidden', 'PUT', path, {
      body: { ...role('kept', secrets), metadata: { name: 'kept', finalizers, labels } },
    });
    await jane.must('PUT', path, role('kept', secrets));
  });

  test('may do it all with the verb escalate on the role', async () => {
    const escalate = {
      verbs: ['escalate'],
      apiGroups: [rbacGroup],
      resources: ['roles'],
      resourceNames: ['free'],
    };
    await having(escalate, async () => {
      await jane.must('POST', rolesIn('team'), role('free', secrets));
      await jane.refused('Forbidden', 'POST', rolesIn('team'), { body: role('unfree', secrets) });
    });
    await jane.refused('Forbidden', 'PUT', `${rolesIn('team')}/free`, { body: role('free', secrets, pods) });
  });

  test('needs everything to make a role that gathers others', async () => {
    const gathering = {
      ...named('gathers'),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    };
    const { message } = await jane.refused('Forbidden', 'POST', clusterRoles, { body: gathering });
    assert.match(message ?? '', /: must have cluster-admin privileges to use the aggregationRule$/);
    await having(pods, async () => {
      const body = { ...gathering, rules: [pods] };
      await jane.refused('Forbidden', 'POST', clusterRoles, { body });
    });
    await having(all, async () => {
      await jane.must('POST', `${clusterRoles}?dryRun=All`, gathering); // every verb: escalate too
    });
    await admin.must('POST', clusterRoles, gathering);
    await jane.refused('Forbidden', 'PUT', `${clusterRoles}/gathers`, { body: role('gathers') });
  });

  test('who is of system:masters is not asked', async () => {
    await admin.must('POST', clusterRoles, role('everything', all, { verbs: ['*'], nonResourceURLs: ['*'] }));
  });
});

describe('whoever may write bindings', () => {
  test('gives what they have there', async () => {
    await jane.must('POST', bindingsIn('team'), binding('a', 'ClusterRole', 'pod-reader', user('joe')));
    await admin.must('POST', rolesIn('team'), role('local', pods));
    await jane.must('POST', bindingsIn('team'), binding('b', 'Role', 'local', user('joe')));
  });

  test('does not give more', async () => {
    const body = binding('c', 'ClusterRole', 'secret-reader', user('jane'));
    const { message } = await jane.refused('Forbidden', 'POST', bindingsIn('team'), { body });
    assert.equal(
      message,
      `rolebindings.${rbacGroup} "c" is forbidden: ${attempt}\n` +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    );
    const everywhere = { body: binding('c', 'ClusterRole', 'pod-reader', user('jane')) };
    await jane.refused('Forbidden', 'POST', clusterBindings, everywhere);
    await jane.refused('Forbidden', 'PUT', `${clusterBindings}/c`, everywhere);
    const self = binding('c', 'ClusterRole', 'cluster-admin', user('jane'));
    await jane.refused('Forbidden', 'POST', clusterBindings, { body: self });
  });

  test('adds nobody to one that gives more', async () => {
    await admin.must('POST', bindingsIn('team'), binding('d', 'ClusterRole', 'secret-reader', user('joe')));
    const body = binding('d', 'ClusterRole', 'secret-reader', user('joe'), user('jane'));
    await jane.refused('Forbidden', 'PUT', `${bindingsIn('team')}/d`, { body });
    await jane.must('DELETE', `${bindingsIn('team')}/d`);
  });

  test('gives a role with the verb bind on it, where they have that', async () => {
    const bind = {
      verbs: ['bind'],
      apiGroups: [rbacGroup],
      resources: ['clusterroles'],
      resourceNames: ['secret-reader'],
    };
    await having(bind, async () => {
      const body = binding('e', 'ClusterRole', 'secret-reader', user('joe'));
      await jane.must('POST', clusterBindings, body);
      await jane.must('POST', bindingsIn('team'), body);
      const other = binding('f', 'ClusterRole', 'cluster-admin', user('joe'));
      await jane.refused('Forbidden', 'POST', clusterBindings, { body: other });
    });
  });

  test('gives no role that does not exist', async () => {
    const body = binding('g', 'ClusterRole', 'nothing', user('joe'));
    const { message } = await jane.refused('NotFound', 'POST', clusterBindings, { body });
    assert.equal(message, `clusterrole.${rbacGroup} "nothing" not found`);
    const wrong = binding('g', 'Role', 'local', user('joe'));
    await jane.refused('Invalid', 'POST', clusterBindings, { body: wrong });
  });
});

describe('an administrator', () => {
  test('is warned of a binding whose role does not exist, or not in that namespace', async () => {
    for (const [path, kind, name, text] of [
      [clusterBindings, 'ClusterRole', 'nothing', `clusterrole.${rbacGroup} \\"nothing\\" not found`],
      [bindingsIn('team'), 'ClusterRole', 'nothing', `clusterrole.${rbacGroup} \\"nothing\\" not found`],
      [bindingsIn('team'), 'Role', 'pod-reader', `role.${rbacGroup} \\"pod-reader\\" not found`],
    ] as const) {
      const reply = await admin.request('POST', path, { body: binding(`${kind}-${name}`, kind, name) });
      assert.equal(reply.code, 201, reply.text);
      assert.equal(reply.headers['warning'], `299 - "roleRef: ${text}: until it is made, nothing is given"`);
    }
    const known = binding('known', 'ClusterRole', 'pod-reader', user('joe'));
    const reply = await admin.request('POST', `${rbac}/clusterrolebindings`, { body: known });
    assert.equal(reply.headers['warning'], undefined);
  });
});
