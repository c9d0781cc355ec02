import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { configMaps, named, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const maps = configMaps('default');
const pods = '/api/v1/namespaces/default/pods';

const since = async (path: string) => (await admin.must('GET', path)).metadata.resourceVersion ?? '';
const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'a', image: 'a' }], ...more },
});

describe('a selector', () => {
  test('of labels makes ADDED of what begins to match, and DELETED of what no longer does', async () => {
    using watch = await admin.watch(`${maps}?labelSelector=shown%3Dyes&resourceVersion=${await since(maps)}`);
    const labelled = (shown: string, data: object) => ({ ...named('turning', { labels: { shown } }), data });
    const put = (object: object) => admin.must('PUT', `${maps}/turning`, object);
    await admin.must('POST', maps, labelled('no', { step: '0' }));
    const shown = await put(labelled('yes', { step: '1' }));
    const last = await put(labelled('yes', { step: '2' }));
    const hidden = await put(labelled('no', { step: '3' }));
    await put(labelled('no', { step: '4' }));
    const again = await put(labelled('yes', { step: '5' }));
    await admin.request('DELETE', `${maps}/turning`);
    const events = [];
    for (let count = 0; count < 5; count += 1) events.push(await watch.next());
    assert.deepEqual(events.slice(0, 2), [
      { type: 'ADDED', object: shown },
      { type: 'MODIFIED', object: last },
    ]);
    const version = { ...last.metadata, resourceVersion: hidden.metadata.resourceVersion };
    assert.deepEqual(
      events[2],
      { type: 'DELETED', object: { ...last, metadata: version } },
      'the last state that matched, at the version of the change',
    );
    assert.deepEqual(events[3], { type: 'ADDED', object: again });
    assert.equal(events[4]?.type, 'DELETED');
    assert.equal(watch.left.length, 0, 'nothing of what does not match');
  });

  test('of fields does the same', async () => {
    const query = `fieldSelector=spec.nodeName%3Dhere&resourceVersion=${await since(pods)}`;
    using watch = await admin.watch(`${pods}?${query}`);
    using table = await admin.watch(`${pods}?${query}`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    await admin.must('POST', pods, pod('elsewhere', { nodeName: 'there' }));
    await admin.must('POST', pods, pod('unbound'));
    const target = { target: { kind: 'Node', name: 'here' } };
    await admin.must('POST', `${pods}/unbound/binding`, { metadata: { name: 'unbound' }, ...target });
    assert.deepEqual(await watch.take(1), ['ADDED unbound']);
    const { type, object } = await table.next();
    assert.deepEqual([type, object.kind], ['ADDED', 'Table']);
  });

  test('of both means what both mean, in the state and in what changes', async () => {
    const labels = { both: 'yes' };
    await admin.must('POST', maps, named('both-a', { labels }));
    await admin.must('POST', maps, named('both-b', { labels }));
    const query = 'labelSelector=both&fieldSelector=metadata.name!%3Dboth-b';
    using watch = await admin.watch(`${maps}?${query}`);
    assert.deepEqual(await watch.take(1), ['ADDED both-a']);
    await admin.must('PUT', `${maps}/both-b`, { ...named('both-b', { labels }), data: { a: 'b' } });
    await admin.must('PUT', `${maps}/both-a`, named('both-a'));
    assert.deepEqual(await watch.take(1), ['DELETED both-a']);
    assert.equal(watch.left.length, 0);
  });

  test('of many watchers holds each change against each of them', async () => {
    const version = await since(maps);
    const teams = Array.from({ length: 50 }, (_, index) => `team-${index}`);
    const watches = await Promise.all(
      teams.map((team) => admin.watch(`${maps}?labelSelector=team%3D${team}&resourceVersion=${version}`)),
    );
    for (const team of teams) await admin.must('POST', maps, named(team, { labels: { team } }));
    for (const [index, watch] of watches.entries()) {
      assert.deepEqual(await watch.take(1), [`ADDED team-${index}`]);
      assert.equal(watch.left.length, 0);
      watch[Symbol.dispose]();
    }
  });
});
