import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { Kind } from '../../../../../src/api/index.ts';
import { apiVersionOf, encodeObject, servedKinds } from '../../../../../src/api/index.ts';
import { startServer } from '../../support/index.ts';
import { collectionOf, sampleOf } from './samples.ts';
import { encodings, mediaTypeOf } from './wire.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const kinds = fc.constantFrom<Kind>(...servedKinds);
const encoding = fc.constantFrom(...encodings);
const mutations = fc.array(fc.record({ at: fc.nat(2000), byte: fc.nat(255), insert: fc.boolean() }), {
  maxLength: 4,
});

test('a body that is a bit wrong is taken or refused, in any encoding, and never a failure of the server', async () => {
  await fc.assert(
    fc.asyncProperty(
      kinds,
      encoding,
      encoding,
      mutations,
      fc.nat(2000),
      async (kind, sent, asked, changes, cut) => {
        const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, 'k8s.io') };
        const bytes = [...encodeObject(kind, { ...sampleOf(kind, 'mutated'), ...type }, sent)];
        for (const { at, byte, insert } of changes) bytes.splice(at % bytes.length, insert ? 0 : 1, byte);
        const body = Buffer.from(cut % 3 === 0 ? bytes.slice(0, cut % bytes.length) : bytes);
        const headers = { 'content-type': mediaTypeOf[sent], accept: mediaTypeOf[asked] };
        const reply = await admin.request('POST', `${collectionOf(kind)}?dryRun=All`, { body, headers });
        assert.ok(reply.code < 500, `${reply.code} ${reply.text}`);
        assert.equal(reply.headers['content-type'], mediaTypeOf[asked]);
      },
    ),
    { numRuns: 600 },
  );
});

test('an Accept header of any shape is answered or 406', async () => {
  const part = fc.constantFrom(
    ...Object.values(mediaTypeOf),
    ...[
      '*/*',
      'application/*',
      'text/html',
      ';',
      ',',
      ';q=0',
      ';q=0.5',
      ';q=',
      '=',
      ';as=Table',
      ';v=v1',
      ';g=meta.k8s.io',
    ],
    ...[';as=PartialObjectMetadata', ';pretty=1', ';stream=watch', '"', ' ', ';as=', '/', '*'],
  );
  const path = collectionOf(servedKinds.find(({ kind }) => kind === 'Node') ?? assert.fail());
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 10 }), async (parts) => {
      const { code, text } = await admin.request('GET', path, { headers: { accept: parts.join('') } });
      assert.ok([200, 406].includes(code), text);
    }),
    { numRuns: 400 },
  );
});
