import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { nodeKind, subjectAccessReviewKind } from '../../../../../src/api/index.ts';
import { lease, leases, named, nodes, objectIn, startServer } from '../../support/index.ts';
import { mediaTypeOf, readReply, sending } from './wire.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const yaml = (body: string, more: Record<string, string> = {}) => ({
  body,
  headers: { 'content-type': 'application/yaml', ...more },
});

describe('a body in YAML', () => {
  test('is taken as kubectl would send it as JSON', async () => {
    const text = `---
# a node
kind: Node
metadata:
  name: from-yaml
  labels: &labels
    zone: "yes"
    date: 2024-01-01
  annotations:
    <<: *labels
    text: |
      two
      lines
spec:
  unschedulable: on
`;
    const { metadata, spec } = objectIn(await admin.request('POST', nodes, yaml(text)));
    assert.deepEqual(metadata.labels, { zone: 'yes', date: '2024-01-01' });
    assert.deepEqual(metadata.annotations, { zone: 'yes', date: '2024-01-01', text: 'two\nlines\n' });
    assert.equal(spec?.['unschedulable'], true);
  });

  test('is warned of, or refused, with every unknown and double field', async () => {
    const text =
      'metadata: {name: odd, nam: x}\nspec: {a: 1}\nspec: {unschedulable: true, unschedulable: false}\n';
    const warned = await admin.request('POST', nodes, yaml(text));
    assert.equal(warned.code, 201, warned.text);
    const warnings = String(warned.headers['warning']);
    for (const field of [
      'unknown field \\"metadata.nam\\"',
      'duplicate field \\"spec\\"',
      'duplicate field \\"spec.unschedulable\\"',
    ]) {
      assert.ok(warnings.includes(field), `${field} in ${warnings}`);
    }
    const { message } = await admin.refused(
      'BadRequest',
      'POST',
      `${nodes}?fieldValidation=Strict`,
      yaml(text),
    );
    assert.match(
      message ?? '',
      /^Node in version "v1" cannot be handled as a Node: strict decoding error: unknown field "metadata.nam", duplicate field "spec"/,
    );
  });

  test('that cannot be read is 400 and says where', async () => {
    const wrong: [string, RegExp][] = [
      ['metadata: {name: a\n', /not valid YAML: line \d+, column \d+: /],
      ['metadata:\n  labels: {a: *x}\n', /not valid YAML: line 2, column 15: no anchor of that name/],
      ['metadata: {name: a}\n---\nmetadata: {name: b}\n', /there is more than one document/],
      ['metadata: {name: a, labels: {a: yes}}', /metadata.labels.a: expected a string, found boolean true/],
      ['[]', /expected an object of kind Node, found a list/],
      ['metadata: {name: !!binary YQ==}', /line 1, column 18: this tag is not accepted/],
    ];
    for (const [text, message] of wrong) {
      const status = await admin.refused('BadRequest', 'POST', nodes, yaml(text));
      assert.match(status.message ?? '', message);
    }
  });

  test('that would grow without bounds is refused in good time', async () => {
    const lines = Array.from(
      { length: 30 },
      (_, index) => `a${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join()}]`,
    );
    const startedMs = performance.now();
    await admin.refused('BadRequest', 'POST', nodes, yaml(['a0: &a0 [x]', ...lines].join('\n')));
    await admin.refused('BadRequest', 'POST', nodes, yaml('['.repeat(2_000_000)));
    assert.ok(performance.now() - startedMs < 3000);
  });
});

describe('a body in protobuf', () => {
  test('may be answered in another encoding', async () => {
    const node = { kind: 'Node', apiVersion: 'v1', ...named('from-protobuf', { labels: { a: 'b' } }) };
    const { code, headers, text } = await admin.request(
      'POST',
      nodes,
      sending(nodeKind, node, 'protobuf', 'yaml'),
    );
    assert.equal(code, 201, text);
    assert.equal(headers['content-type'], 'application/yaml');
    assert.match(text, /^apiVersion: v1\nkind: Node\nmetadata:\n/);
  });

  test('goes by the name of the specification too', async () => {
    const { body } = sending(nodeKind, { kind: 'Node', apiVersion: 'v1', ...named('cluster') }, 'protobuf');
    const type = 'application/vnd.cluster.protobuf';
    const reply = await admin.request('POST', nodes, {
      body,
      headers: { 'content-type': type, accept: type },
    });
    assert.equal(reply.code, 201, reply.text);
    assert.equal(reply.headers['content-type'], type, 'the one that was asked for');
  });

  test('of another kind, or that is none, is 400', async () => {
    const other = sending(nodeKind, { kind: 'Node', apiVersion: 'v1' }, 'protobuf').body;
    const headers = { 'content-type': mediaTypeOf.protobuf };
    const wrong = await admin.refused('BadRequest', 'POST', leases('default'), { body: other, headers });
    assert.match(wrong.message ?? '', /the kind in the body is string "Node"/);
    for (const body of ['{}', other.subarray(0, -5), other.subarray(2)]) {
      await admin.refused('BadRequest', 'POST', nodes, { body, headers });
    }
  });

  test('asks for a review as well', async () => {
    const spec = { user: 'system:admin', nonResourceAttributes: { path: '/healthz', verb: 'get' } };
    const review = { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec };
    const reply = await admin.request(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      sending(subjectAccessReviewKind, review, 'protobuf'),
    );
    assert.equal(reply.code, 201, reply.text);
    const answered = readReply(reply, subjectAccessReviewKind);
    assert.deepEqual(answered['spec'], spec);
    assert.equal(typeof Reflect.get(Object(answered['status']), 'allowed'), 'boolean');
  });
});

describe('what the headers say of a body', () => {
  test('nothing: it is JSON', async () => {
    using connection = await admin.raw();
    const body = JSON.stringify(lease('untyped'));
    const path = leases('default');
    connection.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await connection.until(/HTTP\/1\.1 201/);
  });

  test('UTF-8, or nothing that is not', async () => {
    const send = (type: string, name: string) => ({ body: named(name), headers: { 'content-type': type } });
    for (const [index, charset] of ['utf-8', 'UTF-8', '"utf-8"', 'us-ascii'].entries()) {
      const reply = await admin.request(
        'POST',
        nodes,
        send(`application/json; charset=${charset}`, `charset-${index}`),
      );
      assert.equal(reply.code, 201, reply.text);
    }
    for (const type of ['application/json; charset=latin1', 'application/yaml;charset=utf-16']) {
      await admin.refused('UnsupportedMediaType', 'POST', nodes, send(type, 'other'));
    }
  });

  test('another type is 415 with those that are taken', async () => {
    for (const type of ['text/yaml', 'application/cbor', 'application/merge-patch+json', 'text/plain']) {
      const status = await admin.refused('UnsupportedMediaType', 'POST', nodes, {
        body: named('other'),
        headers: { 'content-type': type },
      });
      for (const taken of Object.values(mediaTypeOf))
        assert.ok(status.message?.includes(taken), status.message);
    }
  });

  test('compressed is 415: nobody knows what it unpacks to', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    for (const coding of ['gzip', 'deflate', 'br']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const status = await admin.refused('UnsupportedMediaType', 'POST', nodes, { body: bomb, headers });
      assert.match(status.message ?? '', /is compressed/);
    }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' };
    assert.equal((await admin.request('POST', nodes, { body: named('identity'), headers })).code, 201);
  });

  test('an empty body is 400 on create and update', async () => {
    for (const [method, path] of [
      ['POST', nodes],
      ['PUT', `${nodes}/identity`],
    ] as const) {
      for (const type of Object.values(mediaTypeOf)) {
        const status = await admin.refused('BadRequest', method, path, {
          body: '',
          headers: { 'content-type': type },
        });
        assert.match(status.message ?? '', /the body is empty: send a Node/);
      }
    }
  });
});
