import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { named, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const inDefault = `${rbac}/namespaces/default`;
const readPods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const subjects = [{ apiGroup: group, kind: 'User', name: 'jane' }];
const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'view' };

const resources = [
  [`${rbac}/clusterroles`, 'ClusterRole', { rules: [readPods] }, { rules: [] }],
  [`${inDefault}/roles`, 'Role', { rules: [readPods] }, { rules: [] }],
  [`${rbac}/clusterrolebindings`, 'ClusterRoleBinding', { roleRef }, { roleRef, subjects }],
  [`${inDefault}/rolebindings`, 'RoleBinding', { roleRef }, { roleRef, subjects }],
] as const;

for (const [path, kind, content, changed] of resources) {
  describe(`a ${kind}`, () => {
    test('is created, read, listed, replaced without a version, and deleted', async () => {
      const made = await admin.must('POST', path, { ...named('a'), ...content });
      assert.deepEqual([made.kind, made.apiVersion], [kind, `${group}/v1`]);
      assert.deepEqual(await admin.must('GET', `${path}/a`), made);
      const listed = await admin.list(path);
      assert.deepEqual(
        listed.filter(({ metadata }) => metadata.name === 'a'),
        [{ ...made }],
      );
      const now = await admin.must('PUT', `${path}/a`, { ...named('a'), ...changed });
      assert.equal(now.metadata.uid, made.metadata.uid);
      assert.notEqual(now.metadata.resourceVersion, made.metadata.resourceVersion);
      await admin.must('DELETE', `${path}/a`);
      await admin.refused('NotFound', 'GET', `${path}/a`);
    });

    test('is created by a PUT to a name that is not there', async () => {
      const reply = await admin.request('PUT', `${path}/put`, { body: { ...named('put'), ...content } });
      assert.equal(reply.code, 201, reply.text);
      const again = await admin.request('PUT', `${path}/put`, { body: { ...named('put'), ...content } });
      assert.equal(again.code, 200);
      await admin.must('DELETE', `${path}/put`);
    });

    test('has any name that is one segment of a path', async () => {
      const name = 'system:a:B_c~';
      await admin.must('POST', path, { ...named(name), ...content });
      await admin.must('DELETE', `${path}/${encodeURIComponent(name)}`);
      const { details } = await admin.refused('Invalid', 'POST', path, {
        body: { ...named('a/b'), ...content },
      });
      assert.deepEqual(
        details?.causes?.map(({ field }) => field),
        ['metadata.name'],
      );
    });

    test('is nothing that others may see or make', async () => {
      await server.stranger.refused('Forbidden', 'GET', path);
      await server.stranger.refused('Forbidden', 'POST', path, { body: { ...named('b'), ...content } });
    });
  });
}

test('a binding keeps its role', async () => {
  const path = `${rbac}/clusterrolebindings`;
  await admin.must('POST', path, { ...named('keep'), roleRef });
  const { details, message } = await admin.refused('Invalid', 'PUT', `${path}/keep`, {
    body: { ...named('keep'), roleRef: { ...roleRef, name: 'edit' } },
  });
  assert.deepEqual(
    details?.causes?.map(({ field, reason }) => [field, reason]),
    [['roleRef', 'FieldValueInvalid']],
  );
  assert.match(
    message ?? '',
    /ClusterRoleBinding\.rbac\.authorization\.k8s\.io "keep" is invalid: .*cannot change roleRef/,
  );
});

test('a namespace of a user is kept, with a warning', async () => {
  const subjects = [{ kind: 'User', name: 'jane', namespace: 'a' }];
  const reply = await admin.request('POST', `${inDefault}/rolebindings`, {
    body: { ...named('warned'), roleRef, subjects },
  });
  assert.equal(reply.code, 201);
  assert.match(
    String(reply.headers['warning']),
    /299 - "subjects\[0\]\.namespace: the User \\"jane\\" belongs to no namespace"/,
  );
  assert.deepEqual(JSON.parse(reply.text).subjects, [{ ...subjects[0], apiGroup: group }]);
});

test('roles and bindings are listed across namespaces', async () => {
  await admin.must('POST', '/api/v1/namespaces', named('team'));
  for (const namespace of ['default', 'team']) {
    await admin.must('POST', `${rbac}/namespaces/${namespace}/roles`, {
      ...named('each'),
      rules: [readPods],
    });
  }
  const found = await admin.list(`${rbac}/roles`);
  assert.deepEqual(
    found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ['default/each', 'kube-system/extension-apiserver-authentication-reader', 'team/each'],
  );
});
