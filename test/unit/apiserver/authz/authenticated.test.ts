import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attributes } from '../../../../src/apiserver/authz/index.ts';
import { createSelfAccessAuthorizer } from '../../../../src/apiserver/authz/index.ts';
import { startServer } from '../support/index.ts';

const member = { name: 'jane', groups: ['system:authenticated'], extra: {} };
const nobody = { name: 'jane', groups: ['somebody', 'system:unauthenticated'], extra: {} };

const question = (group: string, resource: string): Attributes => ({
  verb: 'create',
  group,
  version: 'v1',
  resource,
  subresource: '',
  namespace: '',
  name: '',
});
const questions = [
  question('authorization.k8s.io', 'selfsubjectaccessreviews'),
  question('authorization.k8s.io', 'selfsubjectrulesreviews'),
  question('authentication.k8s.io', 'selfsubjectreviews'),
];

describe('only a member of system:authenticated', () => {
  const selfAccess = createSelfAccessAuthorizer('k8s.io');

  test('may ask about themselves', async () => {
    for (const attributes of questions) {
      assert.equal((await selfAccess.authorize(member, attributes)).verdict, 'allow');
      assert.equal((await selfAccess.authorize(nobody, attributes)).verdict, 'noOpinion');
    }
    assert.equal((await selfAccess.rules?.(member, ''))?.resourceRules.length, 2);
    assert.deepEqual((await selfAccess.rules?.(nobody, ''))?.resourceRules, []);
  });
});

test('nor may more than that, nor otherwise', async () => {
  const [first] = questions;
  assert.ok(first && 'resource' in first);
  for (const change of [{ verb: 'get' }, { subresource: 'status' }, { resource: 'pods' }, { group: '' }]) {
    const { verdict } = await createSelfAccessAuthorizer('k8s.io').authorize(member, { ...first, ...change });
    assert.equal(verdict, 'noOpinion', JSON.stringify(change));
  }
});

test('may ask about themselves even when no role is left that says so', async () => {
  await using server = await startServer();
  await server.admin.must('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings');
  const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const { status } = await server.stranger.must('POST', path, { spec });
  assert.deepEqual(status, { allowed: false });
  await server.stranger.refused('Forbidden', 'GET', '/api');
});

describe('a review of the access of somebody', () => {
  test('says so too, for whatever groups are named in it', async () => {
    await using server = await startServer();
    const allowed = async (groups: string[], asked: object) => {
      const { status } = await server.admin.must(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        { spec: { user: 'jane', groups, ...asked } },
      );
      return status?.['allowed'];
    };
    const self = { group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews', verb: 'create' };
    for (const asked of [
      { resourceAttributes: self },
      { nonResourceAttributes: { path: '/version', verb: 'get' } },
    ]) {
      assert.equal(await allowed(['system:authenticated'], asked), true);
      assert.equal(await allowed(['somebody'], asked), false);
    }
  });
});
