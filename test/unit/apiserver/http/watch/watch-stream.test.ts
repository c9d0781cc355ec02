import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import { configMaps, lease, leases, named, nodes, startServer } from '../../support/index.ts';

const maps = configMaps('default');
const path = leases('default');
const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const version = async (of: string) => (await admin.must('GET', of)).metadata.resourceVersion ?? '';
const get = (target: string, protocol = 'HTTP/1.1') => `GET ${target} ${protocol}\r\nhost: x\r\n\r\n`;

/** The chunks of a chunked body, as they are framed (RFC 9112, 7.1). */
function chunksOf(answer: string): string[] {
  const chunks: string[] = [];
  for (let rest = answer.slice(answer.indexOf('\r\n\r\n') + 4); rest !== ''; ) {
    const size = /^([0-9a-f]+)\r\n/.exec(rest);
    assert.ok(size, rest.slice(0, 80));
    const from = size[0].length;
    const length = Number.parseInt(size[1] ?? '', 16);
    assert.equal(rest.slice(from + length, from + length + 2), '\r\n');
    chunks.push(rest.slice(from, from + length));
    rest = rest.slice(from + length + 2);
  }
  return chunks;
}

const eventsIn = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe('a watch on HTTP/1.1', () => {
  test('comes in chunks, and its connection serves the next request after it', async () => {
    using connection = await admin.raw();
    connection.write(get(`${path}?watch=1&timeoutSeconds=1&resourceVersion=${await version(path)}`));
    await connection.until(/\r\n\r\n/);
    for (const name of ['a', 'b', 'c']) await admin.must('POST', path, lease(`chunk-${name}`));
    const answer = await connection.until(/\r\n0\r\n\r\n$/);
    const chunks = chunksOf(answer);
    assert.equal(chunks.at(-1), '');
    const names = eventsIn(chunks.join('')).map(({ object }) => object.metadata.name);
    assert.deepEqual(names, ['chunk-a', 'chunk-b', 'chunk-c']);
    assert.equal(await connection.exchange(get(nodes)), 200);
  });

  test('that was sent behind another request waits for its turn', async () => {
    using connection = await admin.raw();
    const query = `watch=1&timeoutSeconds=1&resourceVersion=${await version(path)}`;
    connection.write(get(nodes) + get(`${path}?${query}`) + get(nodes));
    await admin.must('POST', path, lease('in-turn'));
    await waitFor('three answers', () => connection.codes.length === 3);
    assert.deepEqual(connection.codes, [200, 200, 200]);
    assert.match(connection.received, /"type":"ADDED".*in-turn/);
  });

  test('a client of HTTP/1.0 gets it without chunks, and the end of the connection ends it', async () => {
    using connection = await admin.raw();
    const query = `watch=1&timeoutSeconds=1&resourceVersion=${await version(path)}`;
    connection.write(get(`${path}?${query}`, 'HTTP/1.0'));
    await connection.until(/\r\n\r\n/);
    await admin.must('POST', path, lease('unframed'));
    const answer = await connection.untilClosed();
    assert.doesNotMatch(answer, /transfer-encoding/i);
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
    assert.deepEqual(
      eventsIn(body).map(({ object }) => object.metadata.name),
      ['unframed'],
    );
  });

  test('ends when its client says that it sends no more', async () => {
    using connection = await admin.raw();
    connection.write(get(`${path}?watch=1&resourceVersion=${await version(path)}`));
    await connection.until(/\r\n\r\n/);
    connection.end();
    await connection.untilClosed();
  });

  test('tells many changes at once in few chunks, and large ones whole', async () => {
    using connection = await admin.raw();
    const since = await version(maps);
    const filler = 'x'.repeat(30_000);
    for (let count = 0; count < 20; count += 1) {
      await admin.must('POST', maps, { ...named(`many-${count}`), data: { filler } });
    }
    connection.write(get(`${maps}?watch=1&timeoutSeconds=1&resourceVersion=${since}`));
    const chunks = chunksOf(await connection.until(/\r\n0\r\n\r\n$/));
    assert.equal(eventsIn(chunks.join('')).length, 20);
    assert.ok(chunks.length < 15, `${chunks.length} chunks`);
    assert.ok(chunks.every((chunk) => chunk.length <= 64 * 1024 && (chunk === '' || chunk.endsWith('\n'))));
  });
});

describe('the credential of a watch', () => {
  test('ends it in order when it ends itself', async () => {
    const brief = { commonName: 'brief', organizations: ['system:masters'], lifetimeMs: 3_000 };
    const pair = await server.issue(brief);
    const holder = server.holder(pair);
    using watch = await holder.watch(`${path}?resourceVersion=${await version(path)}`);
    const startedMs = performance.now();
    await watch.ended;
    assert.ok(watch.isComplete, 'ended, not cut');
    assert.ok(performance.now() - startedMs < 5_000);
    await holder.refused('Unauthorized', 'GET', path);
  });
});

describe('a table', () => {
  test('names its columns in the first event of the stream only', async () => {
    const since = await version(maps);
    for (const name of ['one', 'two']) await admin.must('POST', maps, named(`columns-${name}`));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const reply = await admin.request('GET', `${maps}?watch=1&timeoutSeconds=1&resourceVersion=${since}`, {
      headers: { accept },
    });
    const [first, second] = eventsIn(reply.text).map(({ object }) => object);
    const list = await admin.request('GET', maps, { headers: { accept } });
    assert.deepEqual(first.columnDefinitions, JSON.parse(list.text).columnDefinitions);
    assert.equal(second.columnDefinitions, undefined);
    assert.deepEqual([first.rows.length, second.rows.length], [1, 1]);
  });
});
