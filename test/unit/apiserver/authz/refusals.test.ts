import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMaps, nodes, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, stranger } = server;
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';

describe('a refusal', () => {
  const paths: [string, string][] = [
    ['GET', '/metrics'],
    ['POST', '/metrics'],
    ['GET', '/nowhere'],
  ];
  const objects: [string, string, string][] = [
    [
      'GET',
      nodes,
      'nodes is forbidden: User "stranger" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'GET',
      `${configMaps('default')}/x`,
      'configmaps "x" is forbidden: User "stranger" cannot get resource "configmaps" in API group "" in the namespace "default"',
    ],
  ];

  test('says no more than what is refused where no authorizer has a reason', async () => {
    for (const [method, path] of paths) {
      const { message } = await stranger.refused('Forbidden', method, path);
      assert.equal(message, `forbidden: User "stranger" cannot ${method.toLowerCase()} path "${path}"`);
    }
    for (const [method, path, told] of objects) {
      assert.equal((await stranger.refused('Forbidden', method, path)).message, told);
    }
  });

  describe('of somebody with a role that does not exist', () => {
    before(async () => {
      await admin.must('POST', bindings, {
        metadata: { name: 'dangling' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'z' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'stranger' }],
      });
    });
    const why = ': RBAC: clusterrole.rbac.authorization.k8s.io "z" not found';

    test('says so behind it, for paths and for objects', async () => {
      for (const [method, path] of paths) {
        const { message } = await stranger.refused('Forbidden', method, path);
        assert.equal(
          message,
          `forbidden: User "stranger" cannot ${method.toLowerCase()} path "${path}"${why}`,
        );
      }
      for (const [method, path, told] of objects) {
        assert.equal((await stranger.refused('Forbidden', method, path)).message, `${told}${why}`);
      }
    });

    test('says nothing of it to somebody else', async () => {
      const other = server.holder(await server.issue({ commonName: 'other' }));
      const { message } = await other.refused('Forbidden', 'GET', '/metrics');
      assert.equal(message, 'forbidden: User "other" cannot get path "/metrics"');
    });
  });
});
