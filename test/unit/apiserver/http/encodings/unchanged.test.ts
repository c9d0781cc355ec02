import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import type { ApiObject, Encoding, Kind } from '../../../../../src/api/index.ts';
import { apiVersionOf } from '../../../../../src/api/index.ts';
import { leases, objectIn, otherControllerManager, startServer } from '../../support/index.ts';
import { collectionOf, sampleOf, storedKinds } from './samples.ts';
import { encodings, mediaTypeOf, readReply } from './wire.ts';
import { withZeros } from './zeros.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
await admin.must('POST', leases('kube-system'), otherControllerManager()); // nobody writes between two looks

/** Reads an object in an encoding and writes the very bytes back. */
async function writtenBack(kind: Kind, path: string, encoding: Encoding): Promise<ApiObject> {
  const mediaType = mediaTypeOf[encoding];
  const { bytes } = await admin.request('GET', path, { headers: { accept: mediaType } });
  const headers = { 'content-type': mediaType, accept: mediaType };
  const reply = await admin.request('PUT', path, { body: bytes, headers });
  assert.equal(reply.code, 200, reply.text);
  return readReply(reply, kind);
}

let count = 0;

describe('an object that was made in JSON with zeros spelled out is not changed by writing it back', () => {
  for (const kind of storedKinds) {
    const collection = collectionOf(kind);
    const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, 'k8s.io') };

    test(`${kind.group}/${kind.kind}`, async () => {
      const property = fc.asyncProperty(fc.gen(), async (gen) => {
        const name = `zeros-${count++}`;
        const sample = withZeros(kind.root, { ...sampleOf(kind, name), ...type }, gen);
        const made = objectIn(
          await admin.request('POST', collection, { body: Buffer.from(JSON.stringify(sample)) }),
        );
        assert.ok(made.metadata.resourceVersion, JSON.stringify({ made, sample }));
        for (const encoding of encodings) {
          const { metadata } = await writtenBack(kind, `${collection}/${name}`, encoding);
          assert.deepEqual(metadata, made.metadata, `${encoding}: ${JSON.stringify(sample)}`);
        }
      });
      await fc.assert(property, { numRuns: 10 });
    });
  }
});
