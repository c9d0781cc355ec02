import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ApiTester, TestServer } from '../support/index.ts';
import { named, namespaces, nodes, startServer } from '../support/index.ts';

let server: TestServer;
let admin: ApiTester;
before(async () => {
  server = await startServer();
  ({ admin } = server);
});
after(async () => await server?.[Symbol.asyncDispose]());

const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, container: object = {}) => ({
  metadata: { name },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'a', image: 'a:1', ...container }] },
});

describe('the answer of a dry run', () => {
  test('has no version where nothing was stored, and can be sent as it is', async () => {
    const tried = await admin.must('POST', `${nodes}?dryRun=All`, named('tried'));
    assert.equal(tried.metadata.resourceVersion, undefined);
    const made = await admin.must('POST', nodes, tried);
    assert.match(made.metadata.resourceVersion ?? '', /^[1-9]/);
    const again = await admin.must('PUT', `${nodes}/tried?dryRun=All`, {
      ...named('tried'),
      spec: { unschedulable: true },
    });
    assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
  });
});

test('version 0 in a body says nothing', async () => {
  await admin.must('POST', nodes, named('zero', { resourceVersion: '0' }));
  await admin.must('PUT', `${nodes}/zero`, named('zero', { resourceVersion: '0', labels: { a: 'b' } }));
});

test('what cannot be made in a namespace that is being deleted is told by its own name', async () => {
  await admin.must('POST', namespaces, named('going'));
  const inside = '/api/v1/namespaces/going/configmaps';
  await admin.must('POST', inside, named('holds', { finalizers: ['example.com/hold'] }));
  await admin.must('DELETE', `${namespaces}/going`);
  const { message, details } = await admin.refused('Forbidden', 'POST', inside, { body: named('late') });
  assert.match(
    message ?? '',
    /^configmaps "late" is forbidden: unable to create new content in namespace going /,
  );
  assert.deepEqual([details?.name, details?.kind], ['late', 'configmaps']);
  assert.equal(details?.causes?.[0]?.reason, 'NamespaceTerminating');
});

describe('the resize policy of a container', () => {
  const policy = { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] };

  test('is dropped while its feature is off', async () => {
    const { spec } = await admin.must('POST', pods, pod('plain', policy));
    assert.doesNotMatch(JSON.stringify(spec), /resizePolicy/);
  });

  test('is kept while it is on', async () => {
    await using resizing = await startServer({ gates: { InPlacePodVerticalScaling: true } });
    const { spec } = await resizing.admin.must('POST', pods, pod('resized', policy));
    assert.match(JSON.stringify(spec), /"resizePolicy":\[/);
  });
});

test('a pod has the account default, and a manifest that names none can replace it', async () => {
  const { spec } = await admin.must('POST', pods, pod('accounted'));
  assert.equal(spec?.['serviceAccountName'], 'default');
  await admin.must('PUT', `${pods}/accounted`, pod('accounted', { image: 'a:2' }));
});

test('the one pod range of a node and the first of its list tell the same', async () => {
  const { spec } = await admin.must('POST', nodes, { ...named('ranged'), spec: { podCIDR: '10.0.0.0/24' } });
  assert.deepEqual(spec?.['podCIDRs'], ['10.0.0.0/24']);
});
