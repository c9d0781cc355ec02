import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Subject } from '../../../../../src/api/index.ts';
import { startServer } from '../../support/index.ts';
import { binding, bindingsIn, clusterBindings, clusterRoles, review, role } from './served.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const bot: Subject = { kind: 'ServiceAccount', name: 'bot' };
const name = 'system:serviceaccount:default:bot';
const pods = { verb: 'get', resource: 'pods', namespace: 'default' };
const access = '/apis/access.nodeward.io/v1';
const readers = role('readers', { verbs: ['get'], apiGroups: [''], resources: ['pods'] });

await admin.must('POST', clusterRoles, readers);
const given = binding('rbsa', 'ClusterRole', 'readers', bot);

async function statusOf(kind: string, spec: object): Promise<Record<string, unknown>> {
  return Object((await admin.must('POST', `${access}/${kind}`, { spec })).status);
}

describe('ServiceAccount subjects without namespace in a RoleBinding', () => {
  test('are accepted, and are those of the binding’s own namespace', async () => {
    const dry = await admin.request('POST', `${bindingsIn('default')}?dryRun=All`, {
      body: given,
      headers: { 'Nodeward-Access-Diff': 'true' },
    });
    const { subject } = JSON.parse(dry.text).status.changes[0];
    assert.deepEqual(subject, { ...bot, namespace: 'default' });

    await admin.must('POST', bindingsIn('default'), given);
    const shown = Reflect.get(await admin.must('GET', `${bindingsIn('default')}/rbsa`), 'subjects');
    assert.deepEqual(shown, [bot], 'what was said stays as it is');

    const { allowed, reason } = Object(await review(admin, name, pods));
    assert.equal(allowed, true);
    assert.match(reason, /ServiceAccount "bot\/default"/);
    const elsewhere = await review(admin, name, { ...pods, namespace: 'kube-system' });
    assert.equal(Reflect.get(elsewhere, 'allowed'), false);
  });

  test('are known to every answer about access', async () => {
    const explained = await statusOf('accessexplanations', { user: name, resourceAttributes: pods });
    assert.equal(explained['allowed'], true);
    const who = await statusOf('accessqueries', { whoCan: { resourceAttributes: pods } });
    assert.match(JSON.stringify(who), /"ServiceAccount"[^{}]*"bot"|"bot"[^{}]*"ServiceAccount"/);
    const what = await statusOf('accessqueries', { whatCan: { user: name, namespace: 'default' } });
    assert.match(JSON.stringify(what), /"pods"/);
  });

  test('are refused in a ClusterRoleBinding, which has none', async () => {
    const body = binding('crbsa', 'ClusterRole', 'readers', bot);
    const { details } = await admin.refused('Invalid', 'POST', clusterBindings, { body });
    assert.deepEqual(
      details?.causes?.map(({ field, message }) => [field, message]),
      [['subjects[0].namespace', 'Required value']],
    );
  });
});
