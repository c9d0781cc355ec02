import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { binding, bindingsIn, clusterBindings, clusterRoles, role, user } from '../authz/rbac/served.ts';
import type { ApiTester } from '../support/index.ts';
import { startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, stranger, nobody } = server;

const path = '/apis/access.nodeward.io/v1';
const explanations = `${path}/accessexplanations`;
const queries = `${path}/accessqueries`;
const getPods = { verb: 'get', resource: 'pods', namespace: 'default' };

/** What is answered to a question that may be asked. */
async function answer(tester: ApiTester, collection: string, body: object) {
  const { status } = await tester.must('POST', collection, body);
  return Object(status);
}

describe('explanations and queries', () => {
  test('are answered with 201 from what was written last', async () => {
    const question = { spec: { user: 'jane', resourceAttributes: getPods } };
    assert.equal((await answer(admin, explanations, question)).allowed, false);
    const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
    await admin.must('POST', clusterRoles, role('readers', rule));
    await admin.must('POST', bindingsIn('default'), binding('jane', 'ClusterRole', 'readers', user('jane')));
    const status = await answer(admin, explanations, question);
    assert.deepEqual([status.allowed, status.decidedBy, status.grants.length], [true, 'RBAC', 1]);
    const query = { spec: { whoCan: { resourceAttributes: getPods } } };
    const { subjects } = await answer(admin, queries, query);
    assert.ok(subjects.some((each: { subject: { name: string } }) => each.subject.name === 'jane'));
  });

  test('are in every encoding that is asked for, and forget an answer that was sent', async () => {
    const status = { allowed: true };
    const body = { spec: { user: 'joe', resourceAttributes: getPods }, status };
    for (const accept of ['application/yaml', 'application/vnd.kubernetes.protobuf']) {
      const reply = await admin.request('POST', explanations, { body, headers: { accept } });
      assert.equal(reply.code, 201);
      assert.match(reply.text, /joe/);
    }
    assert.equal((await answer(admin, explanations, body)).allowed, false);
  });

  test('are for those alone who may ask: they tell of the rights of others', async () => {
    const self = { spec: { resourceAttributes: getPods } };
    for (const tester of [stranger, nobody]) {
      for (const collection of [explanations, queries]) {
        const { code } = await tester.request('POST', collection, { body: self });
        assert.ok(code === 403 || code === 401, `${code}`);
      }
    }
    const given = binding('reader', 'ClusterRole', 'nodeward:access-reader', user('stranger'));
    await admin.must('POST', clusterBindings, given);
    const status = await answer(stranger, explanations, self);
    assert.deepEqual([status.user, status.allowed], ['stranger', false]);
    await stranger.must('POST', queries, { spec: { whatCan: {} } });
    await stranger.must('GET', clusterBindings);
  });

  test('say what is wrong with a question', async () => {
    const wrong = [
      [explanations, { spec: {} }, 'spec.resourceAttributes'],
      [
        explanations,
        { spec: { resourceAttributes: {}, nonResourceAttributes: {} } },
        'spec.nonResourceAttributes',
      ],
      [explanations, { metadata: { name: 'x' }, spec: { resourceAttributes: getPods } }, 'metadata'],
      [queries, { spec: {} }, 'spec'],
      [queries, { spec: { whoCan: { resourceAttributes: getPods }, whatCan: {} } }, 'spec'],
      [queries, { spec: { whoCan: {} } }, 'spec.whoCan.resourceAttributes'],
    ] as const;
    for (const [collection, body, field] of wrong) {
      const { details } = await admin.refused('Invalid', 'POST', collection, { body });
      assert.deepEqual(
        details?.causes?.map((cause) => cause.field),
        [field],
      );
    }
    await admin.refused('MethodNotAllowed', 'GET', explanations);
  });
});
