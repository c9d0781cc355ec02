import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeEnvelope, decodeMessage } from '../../../../../src/api/codec/protobuf/index.ts';
import { nodeKind, partialObjectMetadata, status } from '../../../../../src/api/index.ts';
import { lease, leases, named, nodes, objectIn, startServer } from '../../support/index.ts';
import { encodings, listType, mediaTypeOf, readReply } from './wire.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const parameters = (as: string) => `;as=${as};v=v1;g=meta.k8s.io`;

before(async () => {
  for (const name of ['a', 'b']) {
    await admin.must('POST', nodes, { ...named(name, { labels: { name } }), spec: { unschedulable: true } });
  }
});

const get = (path: string, accept: string, more: Record<string, string> = {}) =>
  admin.request('GET', path, { headers: { accept, ...more } });

describe('metadata alone', () => {
  for (const encoding of encodings) {
    test(`of one object, in ${encoding}`, async () => {
      const reply = await get(`${nodes}/a`, mediaTypeOf[encoding] + parameters('PartialObjectMetadata'));
      const { metadata } = await admin.must('GET', `${nodes}/a`);
      assert.deepEqual(readReply(reply, partialObjectMetadata), {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
      });
      assert.equal(reply.headers['content-type'], mediaTypeOf[encoding]);
    });

    test(`of a list, in ${encoding}`, async () => {
      const reply = await get(nodes, mediaTypeOf[encoding] + parameters('PartialObjectMetadataList'));
      const { kind, apiVersion, metadata, items } = readReply(reply, listType(partialObjectMetadata));
      assert.deepEqual(
        { kind, apiVersion },
        { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' },
      );
      assert.match(metadata?.resourceVersion ?? '', /^\d+$/);
      assert.ok(Array.isArray(items));
      const expected = (await admin.list(nodes)).map((node) => node.metadata);
      assert.deepEqual(
        items.map((item) => item.metadata),
        expected,
      );
      if (encoding !== 'protobuf') for (const item of items) assert.equal(item.kind, 'PartialObjectMetadata');
    });
  }

  test('of what was written', async () => {
    const accept = mediaTypeOf.json + parameters('PartialObjectMetadata');
    const reply = await admin.request('POST', nodes, { body: named('c'), headers: { accept } });
    assert.equal(reply.code, 201);
    assert.equal(objectIn(reply).kind, 'PartialObjectMetadata');
    assert.equal((await admin.must('GET', `${nodes}/c`)).kind, 'Node', 'all of it is there');
  });

  test('in the wrong number is 406, and nothing is written', async () => {
    const list = { headers: { accept: mediaTypeOf.json + parameters('PartialObjectMetadataList') } };
    const one = { headers: { accept: mediaTypeOf.json + parameters('PartialObjectMetadata') } };
    await admin.refused('NotAcceptable', 'GET', nodes, one);
    await admin.refused('NotAcceptable', 'GET', `${nodes}/a`, list);
    await admin.refused('NotAcceptable', 'POST', nodes, { ...list, body: named('never') });
    await admin.refused('NotFound', 'GET', `${nodes}/never`);
  });
});

describe('a table', () => {
  const table = parameters('Table');

  test('is the same in JSON and YAML', async () => {
    const pages = await Promise.all(
      (['json', 'yaml'] as const).map(async (encoding) =>
        readReply(await get(nodes, mediaTypeOf[encoding] + table), nodeKind),
      ),
    );
    assert.equal(pages[0]?.kind, 'Table');
    const stable = JSON.stringify(pages[0]).replace(/"\d+s"/g, '"age"');
    assert.equal(JSON.stringify(sortedAs(pages[1], pages[0])).replace(/"\d+s"/g, '"age"'), stable);
  });

  test('of a kind without columns has the name and when it was made', async () => {
    await admin.must('POST', leases('default'), lease('plain'));
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const spec = { nonResourceAttributes: { path: '/', verb: 'get' } };
    const headers = { accept: mediaTypeOf.json + table };
    const { kind, columnDefinitions, rows } = readReply(
      await admin.request('POST', reviews, { body: { spec }, headers }),
      nodeKind,
    );
    assert.equal(kind, 'Table');
    assert.ok(Array.isArray(columnDefinitions) && Array.isArray(rows));
    assert.deepEqual(
      columnDefinitions.map(({ name, type, format, priority }) => [name, type, format, priority]),
      [
        ['Name', 'string', 'name', 0],
        ['Created At', 'date', '', 0],
      ],
    );
    assert.deepEqual(rows[0].cells, ['', null]);
  });

  test('is not to be had in protobuf', async () => {
    await admin.refused('NotAcceptable', 'GET', nodes, { headers: { accept: mediaTypeOf.protobuf + table } });
    const reply = await get(nodes, `${mediaTypeOf.protobuf}${table}, ${mediaTypeOf.protobuf}`);
    assert.equal(readReply(reply, listType(nodeKind)).kind, 'NodeList');
  });

  test('is not made of a Status', async () => {
    const path = `${leases('default')}/plain`;
    const reply = await admin.request('DELETE', path, { headers: { accept: mediaTypeOf.json + table } });
    assert.equal(objectIn(reply).kind, 'Status');
    const missing = await get(path, mediaTypeOf.json + table);
    assert.equal(objectIn(missing).kind, 'Status');
    const inYaml = await get(path, mediaTypeOf.yaml + table);
    assert.match(inYaml.text, /^apiVersion: v1\ncode: 404\n/);
  });
});

/** The same value with its keys in another's order, to be compared as text. */
function sortedAs(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like))
    return value.map((item, index) => sortedAs(item, like[index]));
  if (typeof value !== 'object' || value === null || typeof like !== 'object' || like === null) return value;
  return Object.fromEntries(
    Object.entries(like).map(([key, inner]) => [key, sortedAs(Reflect.get(value, key), inner)]),
  );
}

describe('errors', () => {
  const notFound = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };

  test('are told in the client’s encoding', async () => {
    for (const encoding of encodings) {
      const reply = await get(`${nodes}/none`, mediaTypeOf[encoding]);
      assert.equal(reply.code, 404);
      assert.equal(reply.headers['content-type'], mediaTypeOf[encoding]);
      const { kind, apiVersion, status: shown, reason, code, details } = readReply(reply, nodeKind);
      assert.deepEqual({ kind, apiVersion, status: shown, reason, code }, notFound);
      assert.deepEqual(details, { name: 'none', kind: 'nodes' });
    }
  });

  test('of what a body holds too, with every cause', async () => {
    const reply = await admin.request('POST', nodes, {
      body: named('Not A Name'),
      headers: { accept: mediaTypeOf.protobuf },
    });
    assert.equal(reply.code, 422);
    const { raw, kind } = decodeEnvelope(reply.bytes);
    assert.equal(kind, 'Status');
    const { details } = decodeMessage(status, raw);
    assert.equal(Reflect.get(Object(details), 'causes')[0].field, 'metadata.name');
  });

  test('of who may not, and where nothing is, too', async () => {
    for (const [who, path, code] of [
      [server.nobody, nodes, 401],
      [server.stranger, nodes, 403],
      [admin, '/apis/none/v1/things', 404],
    ] as const) {
      const reply = await who.request('GET', path, { headers: { accept: mediaTypeOf.yaml } });
      assert.equal(reply.code, code);
      assert.equal(reply.headers['content-type'], 'application/yaml');
      assert.match(reply.text, new RegExp(`^apiVersion: v1\ncode: ${code}\n`));
    }
  });

  test('are JSON where the client takes nothing that is served', async () => {
    const { message } = await admin.refused('NotAcceptable', 'GET', nodes, {
      headers: { accept: 'text/html' },
    });
    for (const type of Object.values(mediaTypeOf)) assert.ok(message?.includes(type), message);
  });
});

describe('headers of an answer', () => {
  test('say what it depends on', async () => {
    for (const encoding of encodings) {
      const { headers } = await get(nodes, mediaTypeOf[encoding]);
      assert.equal(headers['vary'], 'Accept, Accept-Encoding');
      assert.equal(headers['cache-control'], 'no-cache, private');
      const missing = await get(`${nodes}/none`, mediaTypeOf[encoding]);
      assert.equal(missing.headers['vary'], 'Accept');
      assert.equal(missing.headers['cache-control'], 'no-cache, private');
    }
  });
});

describe('pretty', () => {
  const agents: [string, boolean][] = [
    ['curl/8.5.0', true],
    ['Wget/1.21', true],
    ['Mozilla/5.0 (X11; Linux x86_64)', true],
    ['kubectl/v1.32.0', false],
    ['xcurl', false],
  ];
  for (const [agent, expected] of agents) {
    test(`${agent}: ${expected}`, async () => {
      for (const path of [`${nodes}/a`, nodes, `${nodes}/none`]) {
        const { text } = await get(path, '*/*', { 'user-agent': agent });
        assert.equal(/^\{\n {2}"kind": /.test(text), expected, text);
      }
      const { text } = await get(`${nodes}?pretty=false`, '*/*', { 'user-agent': agent });
      assert.doesNotMatch(text, /\n/);
    });
  }

  test('is as JSON.stringify indents, for lists and tables too', async () => {
    const paths = [nodes, `${nodes}?labelSelector=none`, `${nodes}/a`];
    const accepts = [
      '',
      parameters('Table'),
      parameters('PartialObjectMetadata'),
      parameters('PartialObjectMetadataList'),
    ];
    for (const path of paths) {
      for (const accept of accepts) {
        const wished = await get(
          `${path}${path.includes('?') ? '&' : '?'}pretty=true`,
          `${mediaTypeOf.json}${accept},${mediaTypeOf.json}`,
        );
        assert.equal(wished.text, `${JSON.stringify(JSON.parse(wished.text), undefined, 2)}\n`);
      }
    }
    const byType = await get(`${nodes}/a`, `${mediaTypeOf.json};pretty=1`);
    assert.match(byType.text, /^\{\n/);
  });

  test('changes nothing of YAML and protobuf', async () => {
    for (const encoding of ['yaml', 'protobuf'] as const) {
      const plain = await get(`${nodes}/a`, mediaTypeOf[encoding]);
      const pretty = await get(`${nodes}/a?pretty=true`, mediaTypeOf[encoding]);
      assert.deepEqual(pretty.bytes, plain.bytes);
    }
  });
});
