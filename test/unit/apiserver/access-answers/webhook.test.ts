import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isRecord } from '../../../../src/api/index.ts';
import { clusterRoles, reviews, role } from '../authz/rbac/served.ts';
import { answeringServer } from '../authz/webhook/answering-server.ts';
import { startServer } from '../support/index.ts';

/** Another server, which lets ann get anything, and nobody called joe do anything. */
const other = await answeringServer(({ spec: { user, resourceAttributes } }) => {
  const isGet = isRecord(resourceAttributes) && resourceAttributes['verb'] === 'get';
  if (user === 'joe') return { status: { allowed: false, denied: true, reason: 'joe is not trusted' } };
  return { status: user === 'ann' && isGet ? { allowed: true, reason: 'ann may read' } : { allowed: false } };
});
const server = await startServer({ authorization: { webhook: { kubeconfig: other.kubeconfig } } });
after(async () => {
  await server[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});
const { admin } = server;

const path = '/apis/access.nodeward.io/v1';
const pods = (verb: string) => ({ resourceAttributes: { verb, resource: 'pods', namespace: 'default' } });
const answer = async (collection: string, spec: object) =>
  Object((await admin.must('POST', `${path}/${collection}`, { spec })).status);

describe('answers about access, where another server is asked too', () => {
  test('an explanation has its decision and its reason', async () => {
    const allowed = await answer('accessexplanations', { user: 'ann', ...pods('get') });
    assert.deepEqual(
      [allowed.allowed, allowed.decidedBy, allowed.reason, allowed.grants],
      [true, 'webhook', 'ann may read', undefined],
    );
    assert.deepEqual(allowed.asked.at(-1), {
      authorizer: 'webhook',
      verdict: 'Allow',
      reason: 'ann may read',
    });
  });

  test('an explanation says who had no opinion, and what would be needed', async () => {
    const { allowed, decidedBy, asked, remedy } = await answer('accessexplanations', {
      user: 'ann',
      ...pods('delete'),
    });
    assert.deepEqual([allowed, decidedBy], [false, undefined]);
    const named = asked.map((each: { authorizer: string; verdict: string }) => [
      each.authorizer,
      each.verdict,
    ]);
    assert.deepEqual(named.slice(-2), [
      ['RBAC', 'NoOpinion'],
      ['webhook', 'NoOpinion'],
    ]);
    assert.ok(remedy);
  });

  test('what it denies a role would allow, because roles are asked first', async () => {
    const { allowed, decidedBy, reason, remedy } = await answer('accessexplanations', {
      user: 'joe',
      ...pods('get'),
    });
    assert.deepEqual([allowed, decidedBy, reason], [false, 'webhook', 'joe is not trusted']);
    assert.ok(remedy);
  });

  test('lists of who may do something, and of what somebody may do, say that there may be more', async () => {
    for (const spec of [{ whoCan: pods('get') }, { whatCan: { user: 'ann' } }]) {
      const { incomplete, errors } = await answer('accessqueries', spec);
      assert.equal(incomplete, true);
      assert.ok(
        errors.some((text: string) => /^incomplete: webhook .* may allow/.test(text)),
        `${errors}`,
      );
    }
    const { status } = await admin.must('POST', `${reviews}/selfsubjectrulesreviews`, {
      spec: { namespace: 'default' },
    });
    assert.equal(status?.['incomplete'], true);
    assert.match(String(status?.['evaluationError']), /webhook/);
  });

  test('and so does a difference', async () => {
    const written = role('readers', { verbs: ['get'], apiGroups: [''], resources: ['pods'] });
    const reply = await admin.request('POST', `${clusterRoles}?dryRun=All`, {
      body: written,
      headers: { 'Nodeward-Access-Diff': 'true' },
    });
    const { status } = JSON.parse(reply.text);
    assert.equal(status.incomplete, true);
    assert.match(status.errors[0], /webhook may allow and deny besides/);
  });
});
