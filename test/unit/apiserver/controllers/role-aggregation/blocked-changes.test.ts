import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import { clusterRoles, role } from '../../authz/rbac/served.ts';
import type { Reply, Shown } from '../../support/index.ts';
import { objectIn, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const own = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const other = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'a' } }] };
const path = `${clusterRoles}/whole`;

await admin.must('POST', clusterRoles, {
  ...role('part', own),
  metadata: { name: 'part', labels: { part: 'a' } },
});
await admin.must('POST', clusterRoles, { metadata: { name: 'whole' }, aggregationRule });
const stored = async (): Promise<Shown> => await admin.must('GET', path);
await waitFor('the rules', async () => rulesOf(await stored()).length === 1);

function rulesOf(object: Shown): unknown[] {
  const rules = 'rules' in object ? object.rules : [];
  return Array.isArray(rules) ? rules : [];
}

async function assertKept(reply: Reply, warns: boolean): Promise<void> {
  assert.equal(reply.code, 200, reply.text);
  assert.deepEqual(rulesOf(objectIn(reply)), [own], 'in the answer');
  assert.deepEqual(rulesOf(await stored()), [own]);
  const warning = reply.headers['warning'];
  if (warns) assert.match(String(warning), /rules: filled in by the aggregation.*was not taken/);
  else assert.equal(warning, undefined);
}

describe('direct changes to the rules of a ClusterRole with an aggregationRule are blocked', () => {
  const patches: [string, object][] = [
    ['application/merge-patch+json', { rules: [own, other] }],
    ['application/strategic-merge-patch+json', { rules: [other] }],
    ['application/json-patch+json', [{ op: 'replace', path: '/rules', value: [other] }]],
  ];

  test('by an update: the rules stay, and a Warning says so', async () => {
    const body = { ...(await stored()), rules: [own, other] };
    await assertKept(await admin.request('PUT', path, { body }), true);
  });

  for (const [type, body] of patches) {
    test(`by a patch: ${type}`, async () => {
      const headers = { 'content-type': type };
      await assertKept(await admin.request('PATCH', path, { body: JSON.stringify(body), headers }), true);
    });
  }

  test('by an apply: whoever applies them does not own them either', async () => {
    const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    const body = { ...kind, metadata: { name: 'whole' }, aggregationRule, rules: [other] };
    const reply = await admin.request('PATCH', `${path}?fieldManager=me&force=true`, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    await assertKept(reply, true);
    const mine = objectIn(reply).metadata.managedFields?.find(({ manager }) => manager === 'me');
    assert.doesNotMatch(JSON.stringify(mine), /f:rules/);
    assert.match(JSON.stringify(mine), /f:aggregationRule/);
  });

  test('a manifest that says no rules, as is usual, is not warned of', async () => {
    for (const rules of [[], null, undefined, [own]]) {
      const body = { ...(await stored()), rules };
      await assertKept(await admin.request('PUT', path, { body }), false);
    }
  });

  test('all else of the role can be changed, and its rules once it aggregates no more', async () => {
    const labels = { team: 'x' };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patch = (body: object) => admin.request('PATCH', path, { body: JSON.stringify(body), headers });
    await assertKept(await patch({ metadata: { labels } }), false);
    const freed = await patch({ aggregationRule: null, rules: [other] });
    assert.deepEqual(rulesOf(objectIn(freed)), [other]);
    assert.deepEqual(rulesOf(await stored()), [other]);
  });
});

describe('a roleRef without apiGroup', () => {
  test('has the group of roles, as in the reference', async () => {
    const made = await admin.must('POST', clusterRoles.replace('roles', 'rolebindings'), {
      metadata: { name: 'short' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
    });
    assert.equal(Object(made)['roleRef'].apiGroup, 'rbac.authorization.k8s.io');
  });
});
