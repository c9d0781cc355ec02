import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { named, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
});
const binding = (node: string, more: object = {}) => ({ target: { kind: 'Node', name: node }, ...more });
const isGone = async (name: string) => (await admin.request('GET', `${pods}/${name}`)).code === 404;
const seconds = (time: string | undefined) => Date.parse(time ?? '') / 1000;

/** A pod that a node has taken. */
async function placed(name: string, spec: object = {}) {
  await admin.must('POST', pods, pod(name, spec));
  await admin.must('POST', `${pods}/${name}/binding`, binding('node-1'));
}

describe('a pod', () => {
  test('is made with defaults, counted and found by what it says', async () => {
    const made = await admin.must('POST', pods, pod('plain', { schedulerName: 'mine' }));
    assert.equal(made.spec?.['restartPolicy'], 'Always');
    assert.deepEqual(made.status, { phase: 'Pending', qosClass: 'BestEffort' });
    assert.equal(made.metadata.generation, 1);
    const found = await admin.list(
      `${pods}?fieldSelector=spec.schedulerName=mine,status.phase=Pending,spec.nodeName=`,
    );
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['plain'],
    );
  });

  test('that cannot be is refused with every cause', async () => {
    const { details } = await admin.refused('Invalid', 'POST', pods, {
      body: pod('bad', { dnsPolicy: 'x', restartPolicy: 'y' }),
    });
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['spec.restartPolicy', 'spec.dnsPolicy'],
    );
  });

  test('that lacks its containers is refused, whatever else it says of them', async () => {
    const initContainers = [{ name: 'a', image: 'a', resizePolicy: [{ resourceName: 'cpu' }] }];
    const body = { metadata: { name: 'bare' }, spec: { initContainers } };
    const { message } = await admin.refused('Invalid', 'POST', pods, { body });
    assert.match(message ?? '', /spec\.containers: Required value/);
  });

  test('with a hundred thousand mistakes is refused like any other', async () => {
    const containers = Array.from({ length: 100_000 }, () => ({ name: '' }));
    const { details } = await admin.refused('Invalid', 'POST', pods, { body: pod('worse', { containers }) });
    assert.ok((details?.causes?.length ?? 0) > 0);
  });

  test('changes its image and keeps the rest', async () => {
    const made = await admin.must('POST', pods, pod('steady', { automountServiceAccountToken: false }));
    const next = { ...made, spec: { ...made.spec, containers: [{ name: 'main', image: 'app:2' }] } };
    const updated = await admin.must('PUT', `${pods}/steady`, next);
    assert.equal(updated.metadata.generation, 2);
    const { message } = await admin.refused('Invalid', 'PUT', `${pods}/steady`, {
      body: { ...updated, spec: { ...updated.spec, nodeName: 'n' } },
    });
    assert.match(message ?? '', /pod updates may not change fields other than/);
  });

  test('does not get its state through its own path, and nothing else through status', async () => {
    const made = await admin.must('POST', pods, pod('observed'));
    const running = { ...made, spec: { containers: [] }, status: { phase: 'Running', podIP: '10.0.0.1' } };
    const same = await admin.must('PUT', `${pods}/observed`, { ...made, status: running.status });
    assert.equal(same.status?.['phase'], 'Pending');
    const seen = await admin.must('PUT', `${pods}/observed/status`, running);
    assert.deepEqual(seen.status, {
      phase: 'Running',
      qosClass: 'BestEffort',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
    });
    assert.deepEqual(seen.spec, made.spec);
    const found = await admin.list(`${pods}?fieldSelector=status.podIP=10.0.0.1`);
    assert.equal(found.length, 1);
  });
});

describe('binding', () => {
  const topology = { 'topology.kubernetes.io/zone': 'north', 'topology.kubernetes.io/region': 'far' };
  const inTheNorth = { metadata: { name: 'in-the-north', labels: { ...topology, disk: 'fast' } } };

  test('tells the pod where its node is, and forgets where it waited for room', async () => {
    await admin.must('POST', '/api/v1/nodes', inTheNorth);
    const metadata = { name: 'northern', labels: { app: 'a' } };
    const made = await admin.must('POST', pods, { ...pod('northern'), metadata });
    const status = { ...made.status, nominatedNodeName: 'elsewhere' };
    await admin.must('PUT', `${pods}/northern/status`, { ...made, status });
    await admin.must('POST', `${pods}/northern/binding`, binding('in-the-north'));
    const bound = await admin.must('GET', `${pods}/northern`);
    assert.deepEqual(bound.metadata.labels, { app: 'a', ...topology });
    assert.equal(bound.status?.['nominatedNodeName'], undefined);
    const born = await admin.must('POST', pods, pod('born-there', { nodeName: 'in-the-north' }));
    assert.deepEqual(born.metadata.labels, topology);
  });

  test('gives a pod to a node, once', async () => {
    await admin.must('POST', pods, pod('wanted'));
    const reply = await admin.request('POST', `${pods}/wanted/binding`, {
      body: binding('node-1', { metadata: { name: 'wanted', annotations: { 'example.com/a': 'b' } } }),
    });
    assert.equal(reply.code, 201, reply.text);
    const { status, code } = JSON.parse(reply.text);
    assert.deepEqual([status, code], ['Success', 201]);
    const bound = await admin.must('GET', `${pods}/wanted`);
    assert.equal(bound.spec?.['nodeName'], 'node-1');
    assert.equal(bound.metadata.annotations?.['example.com/a'], 'b');
    const conditions = JSON.stringify(bound.status?.['conditions']);
    assert.match(
      conditions,
      /^\[\{"type":"PodScheduled","status":"True","lastTransitionTime":"[^"]+Z","lastProbeTime":null\}\]$/,
    );
    const again = await admin.refused('Conflict', 'POST', `${pods}/wanted/binding`, {
      body: binding('node-2'),
    });
    assert.match(again.message ?? '', /pod wanted is already assigned to node "node-1"$/);
  });

  test('asks for a node, and a pod that is free and there', async () => {
    await admin.must('POST', pods, pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] }));
    await admin.refused('Invalid', 'POST', `${pods}/gated/binding`, { body: { target: { kind: 'Node' } } });
    await admin.refused('Invalid', 'POST', `${pods}/gated/binding`, {
      body: { target: { kind: 'Pod', name: 'x' } },
    });
    await admin.refused('NotFound', 'POST', `${pods}/nobody/binding`, { body: binding('n') });
    await admin.refused('Conflict', 'POST', `${pods}/gated/binding`, { body: binding('n') });
    await admin.must('POST', pods, pod('other'));
    await admin.refused('Conflict', 'POST', `${pods}/other/binding`, {
      body: binding('n', { metadata: { uid: 'that-of-another' } }),
    });
    await admin.refused('BadRequest', 'POST', `${pods}/other/binding`, {
      body: binding('n', { metadata: { name: 'gated' } }),
    });
    await admin.refused('MethodNotAllowed', 'GET', `${pods}/other/binding`);
  });

  test('goes to one of many that try at once', async () => {
    await admin.must('POST', pods, pod('contended'));
    const nodes = Array.from({ length: 8 }, (_, index) => `node-${index}`);
    const replies = await Promise.all(
      nodes.map((node) => admin.request('POST', `${pods}/contended/binding`, { body: binding(node) })),
    );
    const codes = replies.map(({ code }) => code).sort();
    assert.deepEqual(codes, [201, ...nodes.slice(1).map(() => 409)]);
  });

  test('is only tried under dry run', async () => {
    await admin.must('POST', pods, pod('tried'));
    const reply = await admin.request('POST', `${pods}/tried/binding?dryRun=All`, { body: binding('n') });
    assert.equal(reply.code, 201, reply.text);
    assert.equal((await admin.must('GET', `${pods}/tried`)).spec?.['nodeName'], undefined);
  });
});

describe('containers for debugging', () => {
  const debug = { name: 'debug', image: 'busybox' };

  test('are added to a pod and stay', async () => {
    const made = await admin.must('POST', pods, pod('ill'));
    const path = `${pods}/ill/ephemeralcontainers`;
    const spec = { ...made.spec, nodeName: 'ignored', ephemeralContainers: [debug] };
    const treated = await admin.must('PUT', path, { ...made, spec });
    assert.equal(treated.spec?.['nodeName'], undefined, 'nothing else comes through this path');
    assert.match(
      JSON.stringify(treated.spec?.['ephemeralContainers']),
      /"name":"debug".*"imagePullPolicy":"Always"/,
    );
    assert.deepEqual(await admin.must('GET', path), treated);
    await admin.refused('Invalid', 'PUT', path, { body: { ...treated, spec: { ...made.spec } } });
    await admin.refused('Invalid', 'PUT', `${pods}/ill`, { body: { ...treated, spec: { ...made.spec } } });
    await admin.must('PUT', `${pods}/ill`, treated);
  });
});

describe('the deletion of a pod', () => {
  test('is at once where no node runs it', async () => {
    await admin.must('POST', pods, pod('free'));
    assert.equal((await admin.request('DELETE', `${pods}/free?gracePeriodSeconds=60`)).code, 200);
    assert.ok(await isGone('free'));
  });

  test('gives the node the time that the pod wants, and ends when the node says so', async () => {
    await placed('busy', { terminationGracePeriodSeconds: 45 });
    const reply = await admin.request('DELETE', `${pods}/busy`);
    assert.equal(reply.code, 202, reply.text);
    const going = await admin.must('GET', `${pods}/busy`);
    const { deletionTimestamp, deletionGracePeriodSeconds } = going.metadata;
    assert.equal(deletionGracePeriodSeconds, 45);
    assert.ok(Math.abs(seconds(deletionTimestamp) - Date.now() / 1000 - 45) < 10, deletionTimestamp);
    await admin.refused('Conflict', 'POST', `${pods}/busy/binding`, { body: binding('n') });
    await admin.must('PUT', `${pods}/busy/status`, { ...going, status: { phase: 'Running' } });
    assert.ok(!(await isGone('busy')), 'a report of the node does not end it');
    assert.equal((await admin.request('DELETE', `${pods}/busy?gracePeriodSeconds=0`)).code, 200);
    assert.ok(await isGone('busy'));
  });

  test('takes the time that the caller gives, at least a second where the caller or the pod gives less than none', async () => {
    await placed('asked');
    await admin.request('DELETE', `${pods}/asked?gracePeriodSeconds=7`);
    assert.equal((await admin.must('GET', `${pods}/asked`)).metadata.deletionGracePeriodSeconds, 7);
    await placed('negative');
    await admin.request('DELETE', `${pods}/negative?gracePeriodSeconds=-1`);
    assert.equal((await admin.must('GET', `${pods}/negative`)).metadata.deletionGracePeriodSeconds, 1);
    await placed('hasty', { terminationGracePeriodSeconds: -1 });
    await admin.request('DELETE', `${pods}/hasty`);
    assert.equal((await admin.must('GET', `${pods}/hasty`)).metadata.deletionGracePeriodSeconds, 1);
  });

  test('is at once when the pod has ended', async () => {
    await placed('over');
    const made = await admin.must('GET', `${pods}/over`);
    await admin.must('PUT', `${pods}/over/status`, { ...made, status: { phase: 'Succeeded' } });
    assert.equal((await admin.request('DELETE', `${pods}/over`)).code, 200);
    assert.ok(await isGone('over'));
  });
});

describe('eviction', () => {
  const eviction = (name: string, deleteOptions?: object) => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    ...named(name),
    ...(deleteOptions === undefined ? {} : { deleteOptions }),
  });

  test('deletes as its options say', async () => {
    await placed('evicted');
    const path = `${pods}/evicted/eviction`;
    const { uid } = (await admin.must('GET', `${pods}/evicted`)).metadata;
    await admin.refused('Conflict', 'POST', path, {
      body: eviction('evicted', { preconditions: { uid: 'x' } }),
    });
    await admin.must('POST', path, eviction('evicted', { dryRun: ['All'] }));
    assert.equal((await admin.must('GET', `${pods}/evicted`)).metadata.deletionTimestamp, undefined);
    const reply = await admin.request('POST', path, {
      body: eviction('evicted', { gracePeriodSeconds: 20, preconditions: { uid } }),
    });
    assert.equal(reply.code, 201, reply.text);
    assert.equal(JSON.parse(reply.text).status, 'Success');
    assert.equal((await admin.must('GET', `${pods}/evicted`)).metadata.deletionGracePeriodSeconds, 20);
    await admin.must('POST', path, eviction('evicted', { gracePeriodSeconds: 0 }));
    assert.ok(await isGone('evicted'));
  });

  test('may be of the version that older clients know, and of no other', async () => {
    await placed('older');
    const path = `${pods}/older/eviction`;
    const of = (apiVersion: string) => ({ ...eviction('older', { gracePeriodSeconds: 0 }), apiVersion });
    await admin.refused('BadRequest', 'POST', path, { body: of('policy/v1alpha1') });
    await admin.must('POST', path, of('policy/v1beta1'));
    assert.ok(await isGone('older'));
  });

  test('is of a pod that there is, with options that there are', async () => {
    await admin.refused('NotFound', 'POST', `${pods}/nobody/eviction`, { body: eviction('nobody') });
    await admin.must('POST', pods, pod('stays'));
    for (const options of [
      { propagationPolicy: 'Sideways' },
      { dryRun: ['Some'] },
      { gracePeriodSeconds: 2 ** 31 },
    ]) {
      await admin.refused('Invalid', 'POST', `${pods}/stays/eviction`, { body: eviction('stays', options) });
    }
    await admin.must('GET', `${pods}/stays`);
  });
});
