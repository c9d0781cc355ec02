import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { namespaces, startServer, statusIn } from '../../support/index.ts';
import { answeringServer } from '../webhook/answering-server.ts';
import { binding, bindingsIn, review, role, rolesIn, user } from './served.ts';

const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());
const folder = resources.use(await temporaryFolder());
const webhook = resources.use(await answeringServer(() => ({ status: { allowed: false } })));
const logPath = join(folder.path, 'audit.log');
const policyFile = join(folder.path, 'policy.yaml');
const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
await writeFile(policyFile, JSON.stringify(policy));
const server = resources.use(
  await startServer({
    audit: { policyFile, logPath },
    authorization: { webhook: { kubeconfig: webhook.kubeconfig } },
  }),
);
const { admin, stranger } = server;

const rule = {
  verbs: ['get', 'list', 'update'],
  apiGroups: [''],
  resources: ['namespaces', 'namespaces/status'],
};
await admin.must('POST', namespaces, { metadata: { name: 'n' } });
await admin.must('POST', namespaces, { metadata: { name: 'other' } });
await admin.must('POST', rolesIn('n'), role('reader', rule));
await admin.must('POST', bindingsIn('n'), binding('reader', 'Role', 'reader', user('stranger')));

describe('for the resource namespaces, the request’s namespace is the object’s name', () => {
  test('a Role in the namespace that allows to get namespaces allows to get this one', async () => {
    const own = await stranger.must('GET', `${namespaces}/n`);
    await stranger.must('GET', `${namespaces}/n/status`);
    await stranger.must('PUT', `${namespaces}/n`, own);
    assert.equal((await stranger.request('GET', `${namespaces}/other`)).code, 403);
    assert.equal((await stranger.request('GET', namespaces)).code, 403, 'the list is of the cluster');
    const named = `${namespaces}?fieldSelector=metadata.name%3Dn`;
    assert.equal((await stranger.request('GET', named)).code, 403, 'a list of one is so as well');
    assert.equal(
      (await stranger.request('DELETE', `${namespaces}/n`)).code,
      403,
      'a verb that it does not allow',
    );
  });

  test('so says the message of a refusal, and the authorization webhook is asked so', async () => {
    const reply = await stranger.request('GET', `${namespaces}/other`);
    assert.equal(
      statusIn(reply).message,
      'namespaces "other" is forbidden: User "stranger" cannot get resource "namespaces" in API group "" in the namespace "other"',
    );
    const asked = webhook.asked.map(({ review: { spec } }) => Object(spec['resourceAttributes']));
    const own = asked.find(({ verb, name }) => verb === 'get' && name === 'other');
    assert.equal(own?.namespace, 'other');
  });

  test('so says the audit log', async () => {
    const { headers } = await stranger.request('GET', `${namespaces}/other`);
    const event = await waitFor('the entry', async () => {
      const lines = (await readFile(logPath, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line)).find(({ auditID }) => auditID === headers['audit-id']);
    });
    const place = { resource: 'namespaces', namespace: 'other', name: 'other', apiVersion: 'v1' };
    assert.deepEqual(event.objectRef, place);
  });

  test('so answers an explanation; a review takes the namespace as it is said', async () => {
    const asked = { verb: 'get', resource: 'namespaces', name: 'n' };
    const body = { spec: { user: 'stranger', resourceAttributes: asked } };
    const explained = await admin.must('POST', '/apis/access.nodeward.io/v1/accessexplanations', body);
    assert.equal(explained.status?.['allowed'], true);
    const who = { spec: { whoCan: { resourceAttributes: asked } } };
    const { status } = await admin.must('POST', '/apis/access.nodeward.io/v1/accessqueries', who);
    assert.match(JSON.stringify(status), /"stranger"/);
    assert.equal(Object(await review(admin, 'stranger', { ...asked, namespace: 'n' })).allowed, true);
    assert.equal(Object(await review(admin, 'stranger', asked)).allowed, false);
  });
});
