import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMaps, named, namespaces, startServer } from '../../support/index.ts';
import {
  binding,
  bindingsIn,
  clusterBindings,
  clusterRoles,
  review,
  reviews,
  role,
  rolesIn,
  user,
} from './served.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const jane = server.holder(await server.issue({ commonName: 'jane', organizations: ['devs'] }));

const reading = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['configmaps'] };
const read = { verb: 'get', resource: 'configmaps', namespace: 'team' };

before(async () => {
  for (const name of ['team', 'other']) {
    await admin.must('POST', namespaces, named(name));
    for (const each of ['x', 'y']) await admin.must('POST', configMaps(name), named(each));
  }
  await admin.must('POST', clusterRoles, role('reader', reading));
});

describe('an ordinary user', () => {
  test('may do what a RoleBinding gives, in its namespace, as soon as that was written', async () => {
    await jane.refused('Forbidden', 'GET', `${configMaps('team')}/x`);
    await admin.must('POST', bindingsIn('team'), binding('jane', 'ClusterRole', 'reader', user('jane')));
    await jane.must('GET', `${configMaps('team')}/x`);
    const listed = (await jane.list(configMaps('team'))).map(({ metadata }) => metadata.name);
    assert.deepEqual(
      listed.filter((name) => name !== 'kube-root-ca.crt'),
      ['x', 'y'],
    );
    await jane.refused('Forbidden', 'GET', `${configMaps('other')}/x`);
    await jane.refused('Forbidden', 'GET', '/api/v1/configmaps');
    await jane.refused('Forbidden', 'DELETE', `${configMaps('team')}/x`);
    await admin.must('DELETE', `${bindingsIn('team')}/jane`);
    await jane.refused('Forbidden', 'GET', `${configMaps('team')}/x`);
  });

  test('may do everywhere what a ClusterRoleBinding gives to a group', async () => {
    const group = { kind: 'Group', name: 'devs' };
    await admin.must('POST', clusterBindings, binding('devs', 'ClusterRole', 'reader', group));
    await jane.must('GET', `${configMaps('other')}/x`);
    await jane.must('GET', '/api/v1/configmaps');
    await server.stranger.refused('Forbidden', 'GET', '/api/v1/configmaps');
    await admin.must('PUT', `${clusterBindings}/devs`, binding('devs', 'ClusterRole', 'reader'));
    await jane.refused('Forbidden', 'GET', '/api/v1/configmaps');
    await admin.must('DELETE', `${clusterBindings}/devs`);
  });

  test('loses what a role no longer allows', async () => {
    await admin.must('POST', rolesIn('team'), role('changing', reading));
    await admin.must('POST', bindingsIn('team'), binding('changing', 'Role', 'changing', user('jane')));
    await jane.must('GET', `${configMaps('team')}/x`);
    await admin.must('PUT', `${rolesIn('team')}/changing`, role('changing', { ...reading, verbs: ['list'] }));
    await jane.refused('Forbidden', 'GET', `${configMaps('team')}/x`);
    await admin.must('DELETE', `${rolesIn('team')}/changing`);
    const { message } = await jane.refused('Forbidden', 'GET', configMaps('team'));
    assert.match(message ?? '', /: RBAC: role\.rbac\.authorization\.k8s\.io "changing" not found$/);
    await admin.must('DELETE', `${bindingsIn('team')}/changing`);
  });

  test('lists and watches one object by its name, where the rule is for that name', async () => {
    await admin.must('POST', rolesIn('team'), role('one', { ...reading, resourceNames: ['x'] }));
    await admin.must('POST', bindingsIn('team'), binding('one', 'Role', 'one', user('jane')));
    const selected = (name: string) => `${configMaps('team')}?fieldSelector=metadata.name%3D${name}`;
    assert.equal((await jane.list(selected('x'))).length, 1);
    await jane.refused('Forbidden', 'GET', selected('y'));
    await jane.refused('Forbidden', 'GET', configMaps('team'));
    (await jane.watch(selected('x')))[Symbol.dispose]();
    await jane.refused('Forbidden', 'GET', `${selected('y')}&watch=true`);
    await admin.must('DELETE', `${bindingsIn('team')}/one`);
  });

  test('needs for a dry run what the write needs', async () => {
    await admin.must('POST', rolesIn('team'), role('writer', { ...reading, verbs: ['create'] }));
    await jane.refused('Forbidden', 'POST', `${configMaps('team')}?dryRun=All`, { body: named('new') });
    await admin.must('POST', bindingsIn('team'), binding('writer', 'Role', 'writer', user('jane')));
    await jane.must('POST', `${configMaps('team')}?dryRun=All`, named('new'));
    await jane.refused('Forbidden', 'DELETE', `${configMaps('team')}/x?dryRun=All`);
    await admin.must('DELETE', `${bindingsIn('team')}/writer`);
  });

  test('sees paths that a role names', async () => {
    await jane.refused('Forbidden', 'GET', '/metrics');
    await admin.must(
      'POST',
      clusterRoles,
      role('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] }),
    );
    await admin.must('POST', clusterBindings, binding('metrics', 'ClusterRole', 'metrics', user('jane')));
    assert.equal((await jane.request('GET', '/metrics')).code, 200);
    await admin.must('DELETE', `${clusterBindings}/metrics`);
  });
});

describe('a review', () => {
  test('tells which binding allows it', async () => {
    await admin.must('POST', bindingsIn('team'), binding('why', 'ClusterRole', 'reader', user('jane')));
    const reason = 'RBAC: allowed by RoleBinding "why/team" of ClusterRole "reader" to User "jane"';
    assert.deepEqual(await review(admin, 'jane', read), { allowed: true, reason });
    assert.deepEqual(await review(admin, 'jane', { ...read, namespace: '' }), { allowed: false });
    assert.deepEqual(await review(admin, 'jane', { ...read, verb: '*' }), { allowed: false });
    const local = `${reviews}/namespaces/team/localsubjectaccessreviews`;
    const spec = { user: 'jane', resourceAttributes: { verb: 'get', resource: 'configmaps' } };
    const answer = await admin.must('POST', local, { spec });
    assert.deepEqual(answer.status, { allowed: true, reason });
    const self = await jane.must('POST', `${reviews}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes: read },
    });
    assert.deepEqual(self.status, { allowed: true, reason });
    await admin.must('DELETE', `${bindingsIn('team')}/why`);
  });

  test('can be asked for by whoever may create one', async () => {
    const path = `${reviews}/namespaces/team/localsubjectaccessreviews`;
    const body = { spec: { user: 'joe', resourceAttributes: { verb: 'get', resource: 'pods' } } };
    await jane.refused('Forbidden', 'POST', path, { body });
    await admin.must('POST', bindingsIn('team'), binding('admins', 'ClusterRole', 'admin', user('jane')));
    await jane.must('POST', path, body);
    await admin.must('DELETE', `${bindingsIn('team')}/admins`);
  });

  test('reaches a decision past a role that is missing, and reports it', async () => {
    const gone = binding('gone', 'Role', 'gone', user('jane'));
    await admin.must('POST', bindingsIn('team'), gone);
    const missing = 'role.rbac.authorization.k8s.io "gone" not found';
    assert.deepEqual(await review(admin, 'jane', read), {
      allowed: false,
      reason: `RBAC: ${missing}`,
      evaluationError: missing,
    });
    await admin.must('POST', bindingsIn('team'), binding('why', 'ClusterRole', 'reader', user('jane')));
    assert.deepEqual(await review(admin, 'jane', read), {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "why/team" of ClusterRole "reader" to User "jane"',
      evaluationError: missing,
    });
    for (const name of ['gone', 'why']) await admin.must('DELETE', `${bindingsIn('team')}/${name}`);
  });

  test('of the rules lists those of the namespace, in few rules', async () => {
    await admin.must('POST', rolesIn('team'), role('a', { ...reading, verbs: ['get'] }));
    await admin.must(
      'POST',
      rolesIn('team'),
      role(
        'b',
        { ...reading, verbs: ['list', 'get'] },
        { ...reading, resources: ['pods'], verbs: ['get', 'list'] },
      ),
    );
    for (const name of ['a', 'b']) {
      await admin.must('POST', bindingsIn('team'), binding(name, 'Role', name, user('jane')));
    }
    const rulesIn = async (namespace: string) => {
      const { status } = await jane.must('POST', `${reviews}/selfsubjectrulesreviews`, {
        spec: { namespace },
      });
      assert.equal(status?.['incomplete'], false);
      return status?.['resourceRules'];
    };
    const elsewhere = await rulesIn('other');
    assert.ok(Array.isArray(elsewhere));
    assert.deepEqual(await rulesIn('team'), [
      ...elsewhere,
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps', 'pods'] },
    ]);
    for (const name of ['a', 'b']) await admin.must('DELETE', `${bindingsIn('team')}/${name}`);
  });
});

describe('a decision is current once the write that changed it was answered', () => {
  test('also while others change roles and bindings all the time', async () => {
    const churning = new AbortController();
    let churned = 0;
    const churn = async (number: number) => {
      const path = `${bindingsIn('other')}/churn-${number}`;
      while (!churning.signal.aborted) {
        await admin.must(
          'PUT',
          path,
          binding(`churn-${number}`, 'ClusterRole', 'reader', user(`u${churned++}`)),
        );
        await admin.must('DELETE', path);
      }
    };
    const others = [1, 2, 3].map(churn);
    const path = `${bindingsIn('team')}/current`;
    const wanted = { spec: { user: 'joe', resourceAttributes: read } };
    const allowed = async () => {
      const { status } = await admin.must('POST', `${reviews}/subjectaccessreviews`, wanted);
      return status?.['allowed'];
    };
    try {
      for (let round = 0; round < 40; round++) {
        await admin.must('PUT', path, binding('current', 'ClusterRole', 'reader', user('joe')));
        assert.equal(await allowed(), true, `round ${round}`);
        if (round % 2 === 0)
          await admin.must('PUT', path, binding('current', 'ClusterRole', 'reader', user('jim')));
        else await admin.must('DELETE', path);
        assert.equal(await allowed(), false, `round ${round}`);
      }
    } finally {
      churning.abort();
      await Promise.all(others);
    }
    assert.ok(churned > 40, `others wrote ${churned} times`);
  });
});
