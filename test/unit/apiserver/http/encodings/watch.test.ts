import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { decodeMessage } from '../../../../../src/api/codec/protobuf/index.ts';
import type { ObjectType } from '../../../../../src/api/index.ts';
import { partialObjectMetadata } from '../../../../../src/api/index.ts';
import { configMapKind } from '../../../../../src/api/kinds/core/config-map.ts';
import { bytes, field, string, struct } from '../../../../../src/api/schema/index.ts';
import { waitFor } from '../../../../support/index.ts';
import type { ApiTester, Reply } from '../../support/index.ts';
import { configMaps, fastClock, named, startServer } from '../../support/index.ts';
import { mediaTypeOf, readBytes } from './wire.ts';

const maps = configMaps('default');
const parameters = (as: string) => `;as=${as};v=v1;g=meta.k8s.io`;

const watchEvent = struct('WatchEvent', {
  type: field(1, string, ''),
  object: field(2, struct('RawExtension', { raw: field(1, bytes, '') }), ''),
});

/** The events of a whole answer: lines of JSON, or frames of protobuf with enveloped objects. */
function eventsIn(reply: Reply, type: Pick<ObjectType, 'root'>) {
  const contentType = String(reply.headers['content-type']);
  if (contentType === 'application/json') {
    return reply.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
  const [mediaType = '', ...rest] = contentType.split(';');
  assert.deepEqual(rest, ['stream=watch']);
  const events = [];
  for (let at = 0; at < reply.bytes.length; ) {
    const length = reply.bytes.readUInt32BE(at);
    const frame = decodeMessage(watchEvent, reply.bytes.subarray(at + 4, at + 4 + length));
    const object = Buffer.from(String(Reflect.get(Object(frame['object']), 'raw')), 'base64');
    events.push({ type: frame['type'], object: readBytes(mediaType, object, type.root) });
    at += 4 + length;
  }
  return events;
}

/** Makes, changes and deletes an object; the version before. */
async function story(admin: ApiTester, name: string): Promise<string> {
  const { metadata } = await admin.must('GET', maps);
  const made = await admin.must('POST', maps, { ...named(name), data: { a: 'on' } });
  await admin.must('PUT', `${maps}/${name}`, { ...made, data: { a: 'off' } });
  await admin.request('DELETE', `${maps}/${name}`);
  return metadata.resourceVersion ?? '';
}

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

async function watched(accept: string, since: string, query = ''): Promise<Reply> {
  const path = `${maps}?watch=1&timeoutSeconds=1&resourceVersion=${since}${query}`;
  return await admin.request('GET', path, { headers: { accept } });
}

describe('a watch', () => {
  test('shows the same in JSON and protobuf', async () => {
    const since = await story(admin, 'told');
    const [inJson, inProtobuf, inCluster] = await Promise.all([
      watched(mediaTypeOf.json, since),
      watched(mediaTypeOf.protobuf, since),
      watched('application/vnd.cluster.protobuf;stream=watch, */*;q=0.1', since),
    ]);
    const events = eventsIn(inJson, configMapKind);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    );
    assert.deepEqual(
      events.map(({ object }) => object.data.a),
      ['on', 'off', 'off'],
    );
    assert.deepEqual(eventsIn(inProtobuf, configMapKind), events);
    assert.equal(inCluster.headers['content-type'], 'application/vnd.cluster.protobuf;stream=watch');
    assert.deepEqual(inCluster.bytes, inProtobuf.bytes);
    for (const { headers } of [inJson, inProtobuf]) assert.equal(headers['transfer-encoding'], 'chunked');
  });

  test('shows metadata alone, in JSON and protobuf', async () => {
    const since = await story(admin, 'partly');
    const mediaTypes = [mediaTypeOf.json, mediaTypeOf.protobuf];
    const parts = mediaTypes.map((type) => watched(type + parameters('PartialObjectMetadata'), since));
    const [complete, ...partial] = await Promise.all([watched(mediaTypeOf.json, since), ...parts]);
    const whole = eventsIn(complete, configMapKind);
    const expected = whole.map(({ type, object: { metadata } }) => ({
      type,
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata },
    }));
    assert.deepEqual(
      partial.map((reply) => eventsIn(reply, partialObjectMetadata)),
      [expected, expected],
    );
  });

  test('shows tables with what includeObject says', async () => {
    const since = await story(admin, 'tabled');
    const accept = mediaTypeOf.json + parameters('Table');
    const rows = async (query: string) =>
      eventsIn(await watched(accept, since, query), configMapKind).map(
        ({ object }) => object.rows[0].object?.kind,
      );
    const queries = ['', '&includeObject=Object', '&includeObject=None'];
    assert.deepEqual(await Promise.all(queries.map(rows)), [
      Array(3).fill('PartialObjectMetadata'),
      Array(3).fill('ConfigMap'),
      Array(3).fill(undefined),
    ]);
    await admin.refused('BadRequest', 'GET', `${maps}?watch=1&includeObject=Perhaps`, {
      headers: { accept },
    });
  });

  test('is not to be had in YAML', async () => {
    const headers = { accept: mediaTypeOf.yaml };
    const { message } = await admin.refused('NotAcceptable', 'GET', `${maps}?watch=1`, { headers });
    assert.doesNotMatch(message ?? '', /yaml/);
    const reply = await watched(
      `${mediaTypeOf.yaml}, ${mediaTypeOf.json};q=0.1`,
      await story(admin, 'fallback'),
    );
    assert.equal(reply.headers['content-type'], 'application/json');
    assert.equal(eventsIn(reply, configMapKind).length, 3);
  });

  test('that cannot be is refused in the client’s encoding', async () => {
    const reply = await admin.request('GET', `${maps}?watch=1&labelSelector=a==b==c`, {
      headers: { accept: mediaTypeOf.protobuf },
    });
    assert.equal(reply.code, 400);
    assert.equal(reply.headers['content-type'], mediaTypeOf.protobuf);
    assert.equal(readBytes(mediaTypeOf.protobuf, reply.bytes, configMapKind.root).kind, 'Status');
  });
});

test('bookmarks and the end of history are told in protobuf too', async () => {
  await using hurried = await startServer({ clock: fastClock(2000) });
  const made = await hurried.admin.must('POST', maps, named('old'));
  const accept = { headers: { accept: mediaTypeOf.protobuf } };
  const path = (query: string) => `${maps}?watch=1&timeoutSeconds=120&${query}`;

  const marked = await hurried.admin.request('GET', path('allowWatchBookmarks=true'), accept);
  const bookmark = eventsIn(marked, configMapKind).findLast(({ type }) => type === 'BOOKMARK');
  assert.equal(bookmark?.object.kind, 'ConfigMap');
  assert.deepEqual(Object.keys(bookmark?.object.metadata ?? {}), ['resourceVersion']);

  const told = await waitFor('the version to be forgotten, on disk and in memory', async () => {
    const annotations = { now: String(Date.now()), filler: 'x'.repeat(200_000) };
    await hurried.admin.must('PUT', `${maps}/old`, named('old', { annotations }));
    const reply = await hurried.admin.request(
      'GET',
      path(`resourceVersion=${made.metadata.resourceVersion}`),
      accept,
    );
    return reply.bytes.includes('Expired') ? reply : undefined;
  });
  const status =
    told.code === 410
      ? readBytes(String(told.headers['content-type']), told.bytes, configMapKind.root)
      : eventsIn(told, configMapKind).findLast(({ type }) => type === 'ERROR')?.object;
  assert.deepEqual([status?.kind, status?.['reason'], status?.['code']], ['Status', 'Expired', 410]);
});
