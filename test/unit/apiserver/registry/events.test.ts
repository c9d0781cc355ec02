import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { named, namespaces, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const core = (namespace: string) => `/api/v1/namespaces/${namespace}/events`;
const view = (namespace: string) => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;

const older = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'default' },
  involvedObject: { kind: 'Node', name: 'node-a' },
  reason: 'Rebooted',
  message: 'the node was rebooted',
  source: { component: 'kubelet' },
  type: 'Warning',
  ...more,
});
const newer = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'default' },
  eventTime: '2025-01-01T00:00:00.000000Z',
  reportingController: 'example.com/controller',
  reportingInstance: 'one',
  action: 'Rebooting',
  reason: 'Rebooted',
  regarding: { kind: 'Node', name: 'node-a', namespace: 'default' },
  note: 'the node is rebooted',
  type: 'Normal',
  ...more,
});

/** What an older Event has in any case. */
const unsaid = {
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};

/** An object without what the server adds, and without its type. */
function contentOf(shown: object): object {
  const {
    metadata: _metadata,
    kind: _kind,
    apiVersion: _version,
    ...content
  } = { metadata: {}, kind: '', apiVersion: '', ...shown };
  return content;
}

describe('an Event', () => {
  test('that is written in one group is read in both', async () => {
    const made = await admin.must('POST', core('default'), older('a'));
    const shown = await admin.must('GET', `${view('default')}/a`);
    assert.deepEqual([shown.apiVersion, shown.kind], ['events.k8s.io/v1', 'Event']);
    assert.deepEqual(shown.metadata, made.metadata, 'one object, one version');
    assert.deepEqual(contentOf(shown), {
      regarding: { kind: 'Node', name: 'node-a' },
      reason: 'Rebooted',
      note: 'the node was rebooted',
      deprecatedSource: { component: 'kubelet' },
      type: 'Warning',
      eventTime: null,
      deprecatedFirstTimestamp: null,
      deprecatedLastTimestamp: null,
    });

    await admin.must('POST', view('default'), newer('b'));
    assert.deepEqual(contentOf(await admin.must('GET', `${core('default')}/b`)), {
      eventTime: '2025-01-01T00:00:00.000000Z',
      reportingComponent: 'example.com/controller',
      reportingInstance: 'one',
      action: 'Rebooting',
      reason: 'Rebooted',
      involvedObject: { kind: 'Node', name: 'node-a', namespace: 'default' },
      message: 'the node is rebooted',
      type: 'Normal',
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
    });
    await admin.refused('AlreadyExists', 'POST', view('default'), { body: newer('a') });
  });

  test('is listed, watched and shown as a table in both', async () => {
    const names = async (path: string) => (await admin.list(path)).map(({ metadata }) => metadata.name);
    await admin.must('PUT', `${core('default')}/listed`, older('listed'));
    assert.deepEqual(await names(core('default')), await names(view('default')));
    assert.deepEqual(await names('/api/v1/events'), await names('/apis/events.k8s.io/v1/events'));
    const selected = [
      `${core('default')}?fieldSelector=involvedObject.name=node-a,source=kubelet,metadata.name=listed`,
      `${view('default')}?fieldSelector=regarding.name=node-a,type=Warning,metadata.name=listed`,
    ];
    for (const path of selected) assert.deepEqual(await names(path), ['listed']);
    await admin.refused('BadRequest', 'GET', `${view('default')}?fieldSelector=involvedObject.name=a`);

    using watch = await admin.watch(`${view('default')}?fieldSelector=metadata.name=listed`);
    await admin.must('PUT', `${core('default')}/listed`, older('listed', { count: 2 }));
    await admin.must('DELETE', `${core('default')}/listed`);
    const events = [await watch.next(), await watch.next(), await watch.next()];
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.apiVersion, Reflect.get(object, 'deprecatedCount')]),
      [
        ['ADDED', 'events.k8s.io/v1', undefined],
        ['MODIFIED', 'events.k8s.io/v1', 2],
        ['DELETED', 'events.k8s.io/v1', 2],
      ],
    );

    const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const rows = async (path: string) => {
      const { text } = await admin.request('GET', path, { headers: accept });
      return JSON.parse(text).rows.map(({ cells }: { cells: unknown }) => cells);
    };
    assert.equal((await rows(core('default'))).length, 2);
    assert.deepEqual(await rows(core('default')), await rows(view('default')));
  });

  test('is changed and deleted through either', async () => {
    await admin.must('POST', core('default'), older('both'));
    const shown = await admin.must('GET', `${view('default')}/both`);
    const labelled = { ...shown, metadata: { ...shown.metadata, labels: { seen: 'yes' } } };
    await admin.must('PUT', `${view('default')}/both`, labelled);
    const now = await admin.must('GET', `${core('default')}/both`);
    assert.deepEqual(now.metadata.labels, { seen: 'yes' });
    assert.deepEqual(contentOf(now), { ...contentOf(older('both')), ...unsaid }, 'and nothing else of it');
    const { details } = await admin.refused('Invalid', 'PUT', `${view('default')}/both`, {
      body: { ...labelled, note: 'other', metadata: { name: 'both' } },
    });
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['note'],
    );
    await admin.must('DELETE', `${view('default')}/both`);
    await admin.refused('NotFound', 'GET', `${core('default')}/both`);
  });

  test('is made by a PUT, as strictly as its group demands', async () => {
    assert.equal(
      (await admin.request('PUT', `${core('default')}/put.1`, { body: older('put.1') })).code,
      201,
    );
    assert.equal(
      (await admin.request('PUT', `${view('default')}/put.2`, { body: newer('put.2') })).code,
      201,
    );
    const { eventTime: _left, ...timeless } = newer('put.3');
    const { details } = await admin.refused('Invalid', 'PUT', `${view('default')}/put.3`, { body: timeless });
    assert.deepEqual(
      details?.causes?.map(({ field }) => field),
      ['eventTime'],
    );
    await admin.must('PUT', `${core('default')}/UPPER_case`, older('UPPER_case'));
    await admin.refused('Invalid', 'PUT', `${view('default')}/UPPER_2`, { body: newer('UPPER_2') });
    await admin.must('GET', `${view('default')}/UPPER_case`);
  });

  test('goes with its namespace, once', async () => {
    await admin.must('POST', namespaces, named('short'));
    const involvedObject = { kind: 'Pod', namespace: 'short' };
    await admin.must('POST', core('short'), { ...older('in'), metadata: { name: 'in' }, involvedObject });
    using watch = await admin.watch(view('short'));
    assert.deepEqual(await watch.take(1), ['ADDED in']);
    await admin.request('DELETE', `${namespaces}/short`);
    await waitFor(
      'the namespace to go',
      async () => (await admin.request('GET', `${namespaces}/short`)).code === 404,
    );
    assert.deepEqual(await watch.take(1), ['DELETED in']);
    assert.equal(watch.left.length, 0);
  });
});
