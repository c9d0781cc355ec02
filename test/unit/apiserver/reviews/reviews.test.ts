import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ApiTester } from '../support/index.ts';
import { startServer } from '../support/index.ts';
import { authentication, reviews } from './ask.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const node = await server.node('a');
const member = server.holder(await server.issue({ commonName: 'jane', organizations: ['devs', 'ops'] }));

const selfReview = (resourceAttributes: object) => ({ spec: { resourceAttributes } });
const listPods = { verb: 'list', resource: 'pods' };

async function canI(who: ApiTester, attributes: object): Promise<unknown> {
  const { status } = await who.must('POST', `${reviews}/selfsubjectaccessreviews`, selfReview(attributes));
  return status?.['allowed'];
}

describe('whoever is authenticated', () => {
  test('may ask what they may do', async () => {
    assert.equal(await canI(server.admin, listPods), true);
    assert.equal(await canI(server.stranger, listPods), false);
    assert.equal(await canI(node, { verb: 'get', resource: 'nodes', name: 'a' }), true);
    assert.equal(await canI(node, { verb: 'get', resource: 'nodes', name: 'b' }), false);
    const group = 'authorization.k8s.io';
    assert.equal(
      await canI(server.stranger, { verb: 'create', group, resource: 'selfsubjectaccessreviews' }),
      true,
    );
    assert.equal(
      await canI(server.stranger, { verb: 'create', group, resource: 'subjectaccessreviews' }),
      false,
    );
    assert.equal(
      await canI(server.stranger, { verb: 'delete', group, resource: 'selfsubjectaccessreviews' }),
      false,
    );
  });

  test('may ask who they are', async () => {
    const { status, kind } = await member.must('POST', `${authentication}/selfsubjectreviews`, {});
    assert.equal(kind, 'SelfSubjectReview');
    assert.deepEqual(status, {
      userInfo: { username: 'jane', groups: ['devs', 'ops', 'system:authenticated'] },
    });
  });

  test('may ask about nobody else', async () => {
    const spec = { user: 'stranger', resourceAttributes: listPods };
    const local = `${reviews}/namespaces/default/localsubjectaccessreviews`;
    for (const path of [`${reviews}/subjectaccessreviews`, local, `${authentication}/tokenreviews`]) {
      await server.stranger.refused('Forbidden', 'POST', path, { body: { spec } });
    }
    await server.nobody.refused('Unauthorized', 'POST', `${reviews}/selfsubjectaccessreviews`, {
      body: selfReview(listPods),
    });
  });
});

describe('the rules of the caller', () => {
  const path = `${reviews}/selfsubjectrulesreviews`;
  const rulesOf = async (who: ApiTester) => {
    const { status = {} } = await who.must('POST', path, { spec: { namespace: 'default' } });
    return status;
  };
  const discovery = ['/healthz', '/livez', '/readyz', '/api', '/apis', '/openapi', '/version'];
  const issuer = ['/.well-known/openid-configuration', '/openid/v1/jwks'];
  const nonResourceURLs = [...discovery.flatMap((each) => [each, `${each}/*`]), '/version/', ...issuer];
  const forAll = {
    resourceRules: [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs }],
  };

  test('are those that everybody has', async () => {
    assert.deepEqual(await rulesOf(server.stranger), { ...forAll, incomplete: false });
  });

  test('are all for an administrator', async () => {
    const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    assert.deepEqual(await rulesOf(server.admin), {
      resourceRules: [everything, ...forAll.resourceRules],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }, ...forAll.nonResourceRules],
      incomplete: false,
    });
  });

  test('are incomplete for a node, whose own cannot be listed', async () => {
    const renewal = {
      verbs: ['create'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/selfnodeclient'],
    };
    assert.deepEqual(await rulesOf(node), {
      ...forAll,
      resourceRules: [...forAll.resourceRules, renewal],
      incomplete: true,
      evaluationError: 'node authorizer does not support user rule resolution',
    });
  });

  test('are those in one namespace, which must be named', async () => {
    for (const body of [{}, { spec: {} }, { spec: { namespace: '' } }]) {
      const { message } = await server.stranger.refused('BadRequest', 'POST', path, { body });
      assert.match(message ?? '', /no namespace on request/);
    }
  });
});

describe('an administrator', () => {
  test('may ask about anybody, and gets the question back with the answer', async () => {
    const spec = { user: 'jane', groups: ['system:masters'], resourceAttributes: listPods };
    const path = `${reviews}/subjectaccessreviews`;
    const reply = await server.admin.request('POST', path, { body: { spec } });
    assert.equal(reply.code, 201);
    assert.deepEqual(JSON.parse(reply.text), {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec,
      status: { allowed: true, reason: 'member of system:masters' },
    });
    const { status } = await server.admin.must('POST', path, { spec: { ...spec, groups: [] } });
    assert.deepEqual(status, { allowed: false });
  });

  test('may ask within a namespace, of which the answer tells', async () => {
    const path = `${reviews}/namespaces/team/localsubjectaccessreviews`;
    const spec = { user: 'jane', resourceAttributes: listPods };
    const answer = await server.admin.must('POST', path, { spec });
    assert.deepEqual(answer.metadata, { namespace: 'team' });
    assert.deepEqual(answer.spec, { user: 'jane', resourceAttributes: { ...listPods, namespace: 'team' } });
    const elsewhere = { metadata: { namespace: 'other' }, spec };
    await server.admin.refused('BadRequest', 'POST', path, { body: elsewhere });
    const other = { spec: { ...spec, resourceAttributes: { ...listPods, namespace: 'other' } } };
    await server.admin.refused('Invalid', 'POST', path, { body: other });
  });

  test('is told of every fault of a question', async () => {
    const body = { metadata: { name: 'a' }, spec: {} };
    const { details } = await server.admin.refused('Invalid', 'POST', `${reviews}/subjectaccessreviews`, {
      body,
    });
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['spec.resourceAttributes', 'spec.user', 'metadata'],
    );
    assert.deepEqual([details?.group, details?.kind], ['authorization.k8s.io', 'SubjectAccessReview']);
  });
});

test('selectors are dropped from the question, because their gate is off by default', async () => {
  const labelSelector = { rawSelector: 'a=b', requirements: [{}] };
  const { spec } = await server.stranger.must(
    'POST',
    `${reviews}/selfsubjectaccessreviews`,
    selfReview({ ...listPods, labelSelector }),
  );
  assert.deepEqual(spec, { resourceAttributes: listPods });
});

test('a self review has no user or groups: they are unknown fields', async () => {
  const path = `${reviews}/selfsubjectaccessreviews`;
  const body = { spec: { resourceAttributes: listPods, user: 'jane', groups: [] } };
  const reply = await server.stranger.request('POST', path, { body });
  assert.equal(reply.code, 201);
  assert.match(String(reply.headers['warning']), /unknown field \\"spec\.user\\"/);
  const { message } = await server.stranger.refused('BadRequest', 'POST', `${path}?fieldValidation=Strict`, {
    body,
  });
  assert.match(message ?? '', /unknown field "spec\.user", unknown field "spec\.groups"/);
});

test('an empty answer in a question, as clients send it, is no fault', async () => {
  const status = {};
  const { spec } = selfReview(listPods);
  const inDefault = '/api/v1/namespaces/default/serviceaccounts';
  await server.admin.must('POST', inDefault, { metadata: { name: 'asked' } });
  for (const [path, body] of [
    [`${reviews}/subjectaccessreviews`, { spec: { ...spec, user: 'jane' }, status }],
    [`${reviews}/namespaces/team/localsubjectaccessreviews`, { spec: { ...spec, user: 'jane' }, status }],
    [`${reviews}/selfsubjectaccessreviews`, { spec, status }],
    [`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: 'default' }, status }],
    [`${authentication}/selfsubjectreviews`, { status: { userInfo: {} } }],
    [`${authentication}/tokenreviews`, { spec: { token: 'a' }, status: { user: {} } }],
    [`${inDefault}/asked/token`, { spec: {}, status }],
  ] as const) {
    const metadata = { creationTimestamp: null };
    const reply = await server.admin.request('POST', path, { body: { metadata, ...body } });
    assert.equal(reply.code, 201, reply.text);
  }
});

test('a review can only be created, and a dry run of it is a review', async () => {
  const path = `${reviews}/selfsubjectaccessreviews`;
  for (const method of ['GET', 'DELETE']) {
    const { reply } = await server.admin.refused('MethodNotAllowed', method, path);
    assert.equal(reply.headers['allow'], 'POST');
  }
  const { status } = await server.admin.must('POST', `${path}?dryRun=All`, selfReview(listPods));
  assert.equal(status?.['allowed'], true);
});
