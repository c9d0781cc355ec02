/** What the cluster is told of CSI drivers: a real control plane, asked with a node's own credentials. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { nodeIdAnnotation } from '../../../../../src/agent/plugins/csi/node-metadata.ts';
import { csiNodeKind, nodeKind } from '../../../../../src/api/index.ts';
import type { ApiCalls } from '../../../../../src/client/index.ts';
import { ConnectionError } from '../../../../../src/client/index.ts';
import { waitFor } from '../../../../support/index.ts';
import type { TestServer } from '../../../apiserver/support/index.ts';
import { startServer } from '../../../apiserver/support/index.ts';
import { driverOf } from './drivers.ts';
import type { Publishing, PublishingOptions } from './publishing.ts';
import { startPublishing } from './publishing.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server[Symbol.asyncDispose]());

let nodes = 0;

/** A node of its own for each test. */
async function start(options: Omit<PublishingOptions, 'node'> = {}): Promise<Publishing> {
  nodes += 1;
  const node = `csi-node-${nodes}`;
  await server.admin.must('POST', '/api/v1/nodes', { metadata: { name: node, labels: { kept: 'yes' } } });
  return await startPublishing(server, { ...options, node });
}

describe('what the cluster is told of the CSI drivers of a node', () => {
  test('is a CSINode of its own from the beginning, which belongs to the Node', async () => {
    await using publishing = await start();
    const { metadata, spec } = await waitFor('the CSINode', () => publishing.csiNode());
    const uid = (await publishing.stored()).metadata?.uid ?? '';
    assert.deepEqual(metadata?.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: publishing.node, uid },
    ]);
    assert.deepEqual(spec.drivers, []);
  });

  test('is each driver: its entry, its id in the annotation, its labels; and it goes when the driver goes', async () => {
    await using publishing = await start();
    const one = driverOf('one.example.com', { maxVolumes: 39, topology: { 'one.example.com/zone': 'a' } });
    const two = driverOf('two.example.com');
    publishing.publisher.publish([one, two]);
    await publishing.untilTold('one.example.com', 'two.example.com');
    const { spec } = await publishing.csiNode();
    const entry = spec.drivers.find(({ name }) => name === 'one.example.com');
    assert.deepEqual(entry, {
      name: 'one.example.com',
      nodeID: 'one.example.com-id',
      topologyKeys: ['one.example.com/zone'],
      allocatable: { count: 39 },
    });
    const { metadata } = await publishing.stored();
    assert.equal(
      metadata?.annotations?.[nodeIdAnnotation],
      '{"one.example.com":"one.example.com-id","two.example.com":"two.example.com-id"}',
    );
    assert.equal(metadata?.labels?.['one.example.com/zone'], 'a');
    assert.equal(metadata?.labels?.['kept'], 'yes');
    await waitFor('both to count as told', () =>
      [one, two].every((driver) => publishing.publisher.publicationOf(driver).state === 'published'),
    );

    // when one leaves, then the other is kept, and so is the label
    publishing.publisher.publish([two]);
    await publishing.untilTold('two.example.com');
    assert.equal((await publishing.stored()).metadata?.labels?.['one.example.com/zone'], 'a');

    // and with the last one the annotation goes
    publishing.publisher.publish([]);
    await publishing.untilTold();
    assert.equal((await publishing.stored()).metadata?.annotations?.[nodeIdAnnotation], undefined);
  });

  test('is not taken away from a driver that is started anew', async () => {
    let looks = 0;
    const between = (api: ApiCalls): ApiCalls => ({
      ...passedOn(api),
      get: (...asked) => {
        looks += 1;
        return api.get(...asked);
      },
    });
    await using publishing = await start({ lingerMs: 60_000, graceMs: 60_000, between });
    publishing.publisher.publish([driverOf('one.example.com')]);
    await publishing.untilTold('one.example.com');
    const before = (await publishing.csiNode()).metadata?.resourceVersion;
    publishing.publisher.publish([]);
    const seen = looks;
    await waitFor('it to be seen that the driver has gone', () => looks >= seen + 4);
    const again = driverOf('one.example.com', { socket: '/run/again.sock' });
    publishing.publisher.publish([again]);
    await waitFor('it to be told', () => publishing.publisher.publicationOf(again).state === 'published');
    assert.equal((await publishing.csiNode()).metadata?.resourceVersion, before);
  });

  test('is put right when others change or delete it', async () => {
    await using publishing = await start({ graceMs: 100 });
    const { admin, node } = publishing;
    publishing.publisher.publish([driverOf('one.example.com')]);
    await publishing.untilTold('one.example.com');

    await admin.delete(csiNodeKind, node);
    await publishing.untilTold('one.example.com');

    const tampered = await publishing.csiNode();
    const strange = { name: 'strange.example.com', nodeID: 'x', topologyKeys: [] };
    await admin.replace(csiNodeKind, { ...tampered, spec: { drivers: [strange] } });
    await publishing.untilTold('one.example.com');

    const annotations = { [nodeIdAnnotation]: '{"broken' };
    await admin.patch(nodeKind, node, { metadata: { annotations } }, { as: 'merge' });
    await publishing.untilTold('one.example.com');
  });

  test('is kept for a while where an earlier agent has told it, and goes when nobody registers', async () => {
    await using earlier = await start();
    earlier.publisher.publish([driverOf('gone.example.com'), driverOf('late.example.com')]);
    await earlier.untilTold('gone.example.com', 'late.example.com');
    await earlier[Symbol.asyncDispose]();

    const { node } = earlier;
    await using patient = await startPublishing(server, { node, graceMs: 60_000 });
    const late = driverOf('late.example.com', { nodeId: 'new-id' });
    patient.publisher.publish([late]);
    await waitFor(
      'the late one to be told',
      () => patient.publisher.publicationOf(late).state === 'published',
    );
    await patient.untilTold('gone.example.com', 'late.example.com');
    const { drivers } = (await patient.csiNode()).spec;
    assert.equal(drivers.find(({ name }) => name === 'late.example.com')?.nodeID, 'new-id');
    await patient[Symbol.asyncDispose]();

    await using impatient = await startPublishing(server, { node, graceMs: 50 });
    impatient.publisher.publish([late]);
    await impatient.untilTold('late.example.com');
  });

  test('leaves out a driver whose label says otherwise than the Node’s, until that is mended; others are told', async () => {
    await using publishing = await start();
    const { admin, node, publisher } = publishing;
    await admin.patch(nodeKind, node, { metadata: { labels: { zone: 'b' } } }, { as: 'merge' });
    const torn = driverOf('torn.example.com', { topology: { zone: 'a' } });
    publisher.publish([torn, driverOf('whole.example.com')]);
    await publishing.untilTold('whole.example.com');
    const { state, problem } = publisher.publicationOf(torn);
    assert.equal(state, 'refused');
    assert.match(problem ?? '', /zone is "a", and the label of the Node says "b"/);

    await admin.patch(nodeKind, node, { metadata: { labels: { zone: null } } }, { as: 'merge' });
    await publishing.untilTold('torn.example.com', 'whole.example.com');
  });

  test('leaves out a driver whose label no node may set; others are told', async () => {
    await using publishing = await start();
    const bold = driverOf('bold.example.com', {
      topology: { 'node-restriction.kubernetes.io/zone': 'a' },
    });
    publishing.publisher.publish([bold, driverOf('whole.example.com')]);
    await publishing.untilTold('whole.example.com');
    const { state, problem } = publishing.publisher.publicationOf(bold);
    assert.equal(state, 'refused');
    assert.match(problem ?? '', /not allowed to modify labels: node-restriction\.kubernetes\.io\/zone/);
  });

  test('waits for a Node that is not registered yet, and follows one that is made anew', async () => {
    const node = 'late-node';
    await using publishing = await startPublishing(server, { node });
    const driver = driverOf('one.example.com');
    publishing.publisher.publish([driver]);
    const pending = await waitFor('the reason', () => publishing.publisher.publicationOf(driver).problem);
    assert.match(pending, /there is no Node late-node yet/);
    await server.admin.must('POST', '/api/v1/nodes', { metadata: { name: node } });
    await publishing.untilTold('one.example.com');

    const { uid: first } = (await publishing.stored()).metadata ?? {};
    await server.admin.must('DELETE', `/api/v1/nodes/${node}`);
    await server.admin.must('POST', '/api/v1/nodes', { metadata: { name: node } });
    await waitFor('the CSINode to belong to the new Node', async () => {
      const owner = (await publishing.csiNode()).metadata?.ownerReferences?.[0]?.uid;
      const { uid } = (await publishing.stored()).metadata ?? {};
      return owner === uid && uid !== first;
    });
    await publishing.untilTold('one.example.com');
  });

  test('loses nothing to somebody who writes in between', async () => {
    let meddle: (() => Promise<unknown>) | undefined;
    const between = (api: ApiCalls): ApiCalls =>
      ({
        ...passedOn(api),
        replace: async (kind, object, options) => {
          const now = meddle;
          meddle = undefined;
          await now?.();
          return await api.replace(kind, object, options);
        },
      }) satisfies ApiCalls;
    await using publishing = await start({ between });
    const { admin } = publishing;
    await waitFor('the CSINode', () => publishing.csiNode());
    meddle = async () => {
      const csiNode = await publishing.csiNode();
      const metadata = { ...csiNode.metadata, labels: { written: 'in-between' } };
      await admin.replace(csiNodeKind, { ...csiNode, metadata });
    };
    publishing.publisher.publish([driverOf('one.example.com')]);
    await publishing.untilTold('one.example.com');
    assert.equal(meddle, undefined);
    assert.equal((await publishing.csiNode()).metadata?.labels?.['written'], 'in-between');
  });

  test('asks an API that keeps nothing of it no more than a few times, and says so', async () => {
    let writes = 0;
    const between = (api: ApiCalls): ApiCalls =>
      ({
        ...passedOn(api),
        replace: async (kind, object, options) => {
          writes += 1;
          if (writes > 100) throw new Error('it is asked without end');
          return await api.get(kind, object.metadata?.name ?? '', options);
        },
      }) satisfies ApiCalls;
    await using publishing = await start({ between, resyncMs: 60_000 });
    await waitFor('the CSINode', () => publishing.csiNode());
    const driver = driverOf('one.example.com');
    publishing.publisher.publish([driver]);
    await publishing.publisher.waitForTry(driver, 10_000, new AbortController().signal);
    const { state, problem } = publishing.publisher.publicationOf(driver);
    assert.equal(state, 'pending');
    assert.match(problem ?? '', /did not store the entry of one\.example\.com/);
    assert.ok(writes <= 6, `${writes} writes`);
  });

  test('is told as soon as an API that was away is back, and the reason is seen meanwhile', async () => {
    let away = true;
    const guard = async () => {
      if (away) throw new ConnectionError('refused', 'the API refuses connections');
    };
    const between = (api: ApiCalls): ApiCalls => {
      const direct = passedOn(api);
      return {
        get: async (...asked: Parameters<ApiCalls['get']>) => guard().then(() => direct.get(...asked)),
        create: async (...asked: Parameters<ApiCalls['create']>) =>
          guard().then(() => direct.create(...asked)),
        replace: async (...asked: Parameters<ApiCalls['replace']>) =>
          guard().then(() => direct.replace(...asked)),
        patch: async (...asked: Parameters<ApiCalls['patch']>) => guard().then(() => direct.patch(...asked)),
      } as ApiCalls;
    };
    await using publishing = await start({ between });
    const driver = driverOf('one.example.com');
    publishing.publisher.publish([driver]);
    await publishing.publisher.waitForTry(driver, 10_000, new AbortController().signal);
    const { state, problem } = publishing.publisher.publicationOf(driver);
    assert.equal(state, 'pending');
    assert.match(problem ?? '', /refuses connections/);
    away = false;
    await publishing.untilTold('one.example.com');
  });
});

function passedOn(api: ApiCalls): ApiCalls {
  return {
    get: (kind, name, options) => api.get(kind, name, options),
    create: (kind, object, options) => api.create(kind, object, options),
    replace: (kind, object, options) => api.replace(kind, object, options),
    patch: (kind, name, change, options) => api.patch(kind, name, change, options),
  };
}
