import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PolicyRule } from '../../../../src/api/index.ts';
import {
  binding,
  bindingsIn,
  clusterBindings,
  clusterRoles,
  role,
  rolesIn,
  user,
} from '../authz/rbac/served.ts';
import { configMaps, named, startServer } from '../support/index.ts';
import { reviews } from './ask.ts';

/*
 * Sentences of the specification (2.2, 2.3, 3.3, 4.1, 5) that only the whole server shows: what it stores, decides and
 * answers must go together.
 */

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const jane = server.holder(await server.issue({ commonName: 'jane' }));

const self = `${reviews}/selfsubjectaccessreviews`;
const reading: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] };
const merge = { 'content-type': 'application/merge-patch+json' };

before(async () => {
  await admin.must('POST', '/api/v1/namespaces', named('team'));
  await admin.must('POST', configMaps('team'), named('x'));
  await admin.must('POST', clusterRoles, role('reader', reading));
  await admin.must('POST', bindingsIn('team'), binding('jane', 'ClusterRole', 'reader', user('jane')));
});

describe('an access review of oneself', () => {
  const asked = { verb: 'get', resource: 'configmaps' };
  const allowed = async (resourceAttributes: object) => {
    const { status } = await jane.must('POST', self, { spec: { resourceAttributes } });
    return status?.['allowed'];
  };

  test('without a namespace is about all of them, which one namespace does not give', async () => {
    assert.equal(await allowed({ ...asked, namespace: 'team' }), true);
    assert.equal(await allowed(asked), false);
    assert.equal(await allowed({ ...asked, namespace: '' }), false);
    await admin.must('POST', clusterBindings, binding('all', 'ClusterRole', 'reader', user('jane')));
    assert.equal(await allowed(asked), true);
    await admin.must('DELETE', `${clusterBindings}/all`);
  });

  test('about all verbs, groups, resources or names needs a right to all of them', async () => {
    const here = { ...asked, namespace: 'team' };
    for (const wider of [{ verb: '*' }, { group: '*' }, { resource: '*' }]) {
      assert.equal(await allowed({ ...here, ...wider }), false, JSON.stringify(wider));
    }
    for (const same of [
      { version: '*' },
      { version: 'v1' },
      { name: '' },
      { name: 'x' },
      { subresource: '' },
    ]) {
      assert.equal(await allowed({ ...here, ...same }), true, JSON.stringify(same));
    }
    assert.equal(await allowed({ ...here, subresource: 'status' }), false);
  });

  test('says allowed always, and denied only where somebody denies', async () => {
    const { status } = await jane.must('POST', self, {
      spec: { resourceAttributes: { ...asked, verb: 'delete' } },
    });
    assert.deepEqual(status, { allowed: false });
  });

  test('of both sorts of attributes, or of neither, is invalid and decides nothing', async () => {
    const nonResourceAttributes = { path: '/version', verb: 'get' };
    for (const spec of [{}, { resourceAttributes: asked, nonResourceAttributes }]) {
      const { message } = await jane.refused('Invalid', 'POST', self, { body: { spec } });
      assert.match(message ?? '', /spec\.(nonR|r)esourceAttributes/);
    }
  });

  test('without a spec is invalid, whichever review it is', async () => {
    for (const path of ['subjectaccessreviews', 'namespaces/team/localsubjectaccessreviews']) {
      await admin.refused('Invalid', 'POST', `${reviews}/${path}`, { body: {} });
    }
    await jane.refused('Invalid', 'POST', self, { body: {} });
  });

  test('takes the parameters of every create, and keeps nothing', async () => {
    const spec = { resourceAttributes: { ...asked, namespace: 'team' } };
    for (const query of ['dryRun=All', 'fieldManager=me', 'fieldValidation=Strict', 'pretty=true']) {
      const { status, metadata } = await jane.must('POST', `${self}?${query}`, { spec });
      assert.equal(status?.['allowed'], true, query);
      assert.deepEqual(metadata, {}, 'it has neither a name nor a version');
    }
    await jane.refused('BadRequest', 'POST', `${self}?fieldValidation=Strict`, { body: { spec, more: 1 } });
    const { details } = await jane.refused('Invalid', 'POST', `${self}?dryRun=Some`, { body: { spec } });
    assert.equal(details?.causes?.length, 1);
  });
});

describe('a review of somebody', () => {
  const spec = { resourceAttributes: { verb: 'get', resource: 'configmaps', namespace: 'team' } };
  const status = async (who: object) => {
    const answer = await admin.must('POST', `${reviews}/subjectaccessreviews`, { spec: { ...spec, ...who } });
    return answer.status;
  };

  test('by a group alone is about whoever is in it', async () => {
    const devs = { kind: 'Group', name: 'devs' };
    await admin.must('POST', bindingsIn('team'), binding('devs', 'ClusterRole', 'reader', devs));
    assert.equal((await status({ groups: ['devs'] }))?.['allowed'], true);
    assert.equal((await status({ user: 'joe', groups: ['ops', 'devs'] }))?.['allowed'], true);
    assert.equal((await status({ user: 'joe' }))?.['allowed'], false, 'in no group');
    assert.equal((await status({ user: 'devs' }))?.['allowed'], false);
  });

  test('by uid and extra values is about the same user: roles are given by name', async () => {
    assert.equal((await status({ user: 'jane', uid: '7', extra: { scopes: ['none'] } }))?.['allowed'], true);
    assert.equal((await status({ user: 'joe', uid: 'jane' }))?.['allowed'], false);
  });
});

describe('a dry run', () => {
  const [path, body] = [`${configMaps('team')}/x`, { data: { a: 'b' } }];

  test('of a patch needs the verb patch for the group and resource, and no other verb will do', async () => {
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'delete', 'deletecollection'];
    await admin.must('POST', rolesIn('team'), role('others', { ...reading, verbs }));
    await admin.must('POST', bindingsIn('team'), binding('others', 'Role', 'others', user('patcher')));
    const patcher = server.holder(await server.issue({ commonName: 'patcher' }));
    for (const query of ['', '?dryRun=All']) {
      await patcher.refused('Forbidden', 'PATCH', `${path}${query}`, { body, headers: merge });
    }
    await admin.must('PUT', `${rolesIn('team')}/others`, role('others', { ...reading, verbs: ['patch'] }));
    const { code, text } = await patcher.request('PATCH', `${path}?dryRun=All`, { body, headers: merge });
    assert.equal(code, 200, text);
    assert.equal(JSON.stringify(await admin.must('GET', path)).includes('"a"'), false, 'nothing was kept');
    await patcher.refused('Forbidden', 'GET', path);
  });
});

describe('a binding', () => {
  test('whose role is made later, gives it from then on; one whose role goes, no longer', async () => {
    await admin.must('POST', bindingsIn('team'), binding('late', 'Role', 'late', user('joe')));
    const joe = server.holder(await server.issue({ commonName: 'joe' }));
    await joe.refused('Forbidden', 'GET', `${configMaps('team')}/x`);
    await admin.must('POST', rolesIn('team'), role('late', reading));
    await joe.must('GET', `${configMaps('team')}/x`);
    await admin.must('DELETE', `${rolesIn('team')}/late`);
    await joe.refused('Forbidden', 'GET', `${configMaps('team')}/x`);
  });

  test('in a namespace gives of a ClusterRole neither paths nor what belongs to no namespace', async () => {
    const rules = [
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] },
    ];
    await admin.must('POST', clusterRoles, role('wide', ...rules));
    await admin.must('POST', bindingsIn('team'), binding('wide', 'ClusterRole', 'wide', user('jane')));
    await jane.refused('Forbidden', 'GET', '/metrics');
    await jane.refused('Forbidden', 'GET', '/api/v1/nodes');
    const { status } = await jane.must('POST', `${reviews}/selfsubjectrulesreviews`, {
      spec: { namespace: 'team' },
    });
    assert.equal(JSON.stringify(status).includes('/metrics'), false);
  });
});
