import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { namespaces, signingRequest as newRequest, startServer } from '../support/index.ts';
import { managersOf } from './managers.ts';
import { tell } from './story.ts';
import { lease, node, pod, signingRequest } from './subjects.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

describe('every write is noted', () => {
  test('of the control plane itself', async () => {
    const owners = managersOf(await admin.must('GET', `${namespaces}/default`));
    assert.deepEqual(owners, { 'nodeward updates': ['.metadata.labels.kubernetes.io/metadata.name'] });
  });

  test('and what has a path of its own is nobody’s when it is new', async () => {
    const spec = { containers: [{ name: 'web', image: 'nginx:1' }] };
    await admin.must('POST', `${pod.path}?fieldManager=A`, { metadata: { name: 'new' }, spec });
    const shown = await admin.must('GET', `${pod.path}/new`);
    assert.equal(shown.status?.['phase'], 'Pending');
    const owned = managersOf(shown)['A updates'] ?? [];
    assert.deepEqual(
      owned.filter((path) => !path.startsWith('.spec.')),
      [],
    );
  });

  test('that gives a pod to a node', async () => {
    const spec = { containers: [{ name: 'web', image: 'nginx:1' }] };
    await admin.must('POST', `${pod.path}?fieldManager=A`, { metadata: { name: 'bound' }, spec });
    const target = { kind: 'Node', name: 'n' };
    await admin.must('POST', `${pod.path}/bound/binding?fieldManager=scheduler`, {
      metadata: { name: 'bound' },
      target,
    });
    const owners = managersOf(await admin.must('GET', `${pod.path}/bound`));
    assert.deepEqual(owners['scheduler updates through binding'], [
      '.spec.nodeName',
      '.status.conditions[type=PodScheduled].lastProbeTime',
      '.status.conditions[type=PodScheduled].lastTransitionTime',
      '.status.conditions[type=PodScheduled].status',
      '.status.conditions[type=PodScheduled].type',
    ]);
    assert.ok(owners['A updates']?.includes('.spec.containers[name=web].image'));
  });

  test('that approves a certificate', async () => {
    const request = await newRequest('n', { metadata: { generateName: '', name: 'asked' } });
    await admin.must('POST', `${signingRequest.path}?fieldManager=A`, request);
    const reply = await admin.request(
      'PATCH',
      `${signingRequest.path}/asked/approval?fieldManager=approver&force=true`,
      {
        body: {
          apiVersion: signingRequest.apiVersion,
          kind: signingRequest.kind,
          status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Known', message: 'fine' }] },
        },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      },
    );
    assert.equal(reply.code, 200, reply.text);
    const owners = managersOf(await admin.must('GET', `${signingRequest.path}/asked`));
    assert.ok(owners['approver through approval']?.includes('.status.conditions[type=Approved].reason'));
    assert.ok(owners['A updates']?.includes('.spec.request'));
  });

  test('but not one that asks for another certificate than was asked for', async () => {
    const request = await newRequest('n', {
      metadata: { generateName: '', name: 'fixed' },
      spec: { signerName: 'example.com/none' },
    });
    const made = await admin.must('POST', `${signingRequest.path}?fieldManager=A`, request);
    const { apiVersion, kind } = signingRequest;
    const reply = await admin.request('PATCH', `${signingRequest.path}/fixed?fieldManager=thief&force=true`, {
      body: { apiVersion, kind, metadata: { labels: { a: 'b' } }, spec: { username: 'root' } },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    assert.equal(reply.code, 200, reply.text);
    const now = await admin.must('GET', `${signingRequest.path}/fixed`);
    assert.deepEqual(now.spec, made.spec);
    const { thief, 'A updates': owner = [] } = managersOf(now);
    assert.deepEqual(thief, ['.metadata.labels.a']);
    assert.ok(owner.includes('.spec.username'));
  });

  test('under what the program calls itself, when it names no manager', async () => {
    const headers = { 'user-agent': 'kubelet/v1.34 (linux/amd64) kubernetes/abc' };
    const body = { metadata: { name: 'named', labels: { a: 'b' } } };
    const reply = await admin.request('POST', node.path, { body, headers });
    assert.equal(reply.code, 201, reply.text);
    const owners = managersOf(await admin.must('GET', `${node.path}/named`));
    assert.deepEqual(Object.keys(owners), ['kubelet updates']);
  });

  test('but a deletion is not: what it sets is nobody’s', async () => {
    const metadata = { name: 'going', finalizers: ['example.com/hold'] };
    await admin.must('POST', `${lease.path}?fieldManager=A`, { metadata });
    const before = managersOf(await admin.must('GET', `${lease.path}/going`));
    await admin.must('DELETE', `${lease.path}/going?fieldManager=B&propagationPolicy=Foreground`);
    const shown = await admin.must('GET', `${lease.path}/going`);
    assert.notEqual(shown.metadata.deletionTimestamp, undefined);
    assert.deepEqual(managersOf(shown), before);
  });

  test('and a review, which is not kept, has no managers', async () => {
    const review = await admin.must(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldManager=A',
      {
        metadata: { managedFields: [] },
        spec: { nonResourceAttributes: { path: '/version', verb: 'get' } },
      },
    );
    assert.deepEqual(review.metadata, {});
  });
});

await tell('a PUT that creates', lease, {
  'is noted as an update': [
    {
      async meanwhile(place) {
        const { name } = place;
        const body = { metadata: { name }, spec: { holderIdentity: 'A' } };
        await place.server.admin.must('PUT', `${lease.path}/${name}?fieldManager=A`, body);
      },
      owners: { 'A updates': ['.spec.holderIdentity'] },
    },
    { by: 'A', replaces: 'spec: {holderIdentity: B}', ends: 'changed' },
    { by: 'B', applies: 'spec: {holderIdentity: C}', ends: 'refused', naming: ['"A" using'] },
  ],
});
