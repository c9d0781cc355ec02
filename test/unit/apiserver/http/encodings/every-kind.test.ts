import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { apiVersionOf } from '../../../../../src/api/index.ts';
import { leases, otherControllerManager, startServer } from '../../support/index.ts';
import { collectionOf, sampleOf, storedKinds } from './samples.ts';
import { encodings, listType, mediaTypeOf, readReply, sending } from './wire.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
await admin.must('POST', leases('kube-system'), otherControllerManager()); // nobody writes between two looks

/** Claims within a StatefulSet say their kind in JSON, and have no field for it in protobuf. */
function withoutTypes(object: object): unknown {
  return JSON.parse(JSON.stringify(object), (name, value: unknown) =>
    name === 'volumeClaimTemplates' && Array.isArray(value)
      ? value.map(({ kind: _kind, apiVersion: _version, ...claim }) => claim)
      : value,
  );
}

for (const kind of storedKinds) {
  const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, 'k8s.io') };
  const collection = collectionOf(kind);

  describe(`${type.apiVersion} ${kind.kind}`, () => {
    for (const encoding of encodings) {
      test(`written in ${encoding} is read as the same in every encoding`, async () => {
        const name = `in-${encoding}`;
        const sample = { ...sampleOf(kind, name), ...type };
        const made = await admin.request('POST', collection, sending(kind, sample, encoding));
        assert.equal(made.code, 201, made.text);
        const created = readReply(made, kind);
        assert.equal(created.metadata?.name, name);
        assert.ok(created.metadata?.uid);

        for (const answer of encodings) {
          const got = await admin.request('GET', `${collection}/${name}`, {
            headers: { accept: mediaTypeOf[answer] },
          });
          assert.equal(got.code, 200, got.text);
          assert.deepEqual(withoutTypes(readReply(got, kind)), withoutTypes(created), answer);
          const listed = await admin.request('GET', `${collection}?fieldSelector=metadata.name=${name}`, {
            headers: { accept: mediaTypeOf[answer] },
          });
          const { kind: listKind, apiVersion, items } = readReply(listed, listType(kind));
          assert.deepEqual(
            { listKind, apiVersion },
            { listKind: `${kind.kind}List`, apiVersion: type.apiVersion },
          );
          assert.ok(Array.isArray(items) && items.length === 1);
          const own = answer === 'protobuf' ? type : {}; // there the list says of what it is, and not each item
          assert.deepEqual(
            withoutTypes({ ...own, ...items[0] }),
            withoutTypes(created),
            `listed in ${answer}`,
          );
        }
      });
    }

    test('is the same whatever it was written in', async () => {
      const specs = await Promise.all(
        encodings.map(async (encoding) => {
          const { metadata: _metadata, ...rest } = await admin.must('GET', `${collection}/in-${encoding}`);
          const { lastPhaseTransitionTime: _time, ...status } = rest.status ?? {}; // of its creation
          const chosen = /kube-api-access-\w{5}/g; // the name of the token's volume
          return JSON.parse(JSON.stringify({ ...rest, status }).replaceAll(chosen, 'kube-api-access'));
        }),
      );
      for (const spec of specs) assert.deepEqual(spec, specs[0]);
    });

    test('sent in one encoding is answered in another, on update too', async () => {
      const path = `${collection}/in-json`;
      for (const [encoding, answer] of [
        ['yaml', 'protobuf'],
        ['protobuf', 'json'],
        ['json', 'yaml'],
      ] as const) {
        const stored = await admin.must('GET', path);
        const labels = { ...stored.metadata.labels, last: encoding };
        const changed = { ...stored, metadata: { ...stored.metadata, labels } };
        const reply = await admin.request('PUT', path, sending(kind, changed, encoding, answer));
        assert.equal(reply.code, 200, reply.text);
        assert.equal(reply.headers['content-type'], mediaTypeOf[answer]);
        assert.equal(readReply(reply, kind).metadata?.labels?.['last'], encoding);
      }
    });

    test('is deleted with a Status in every encoding', async () => {
      for (const encoding of encodings) {
        const reply = await admin.request('DELETE', `${collection}/in-${encoding}`, {
          headers: { accept: mediaTypeOf[encoding] },
        });
        assert.ok([200, 202].includes(reply.code), reply.text);
        const { kind: shown, status, details } = readReply(reply, kind);
        assert.deepEqual({ shown, status }, { shown: 'Status', status: 'Success' });
        assert.equal(Reflect.get(Object(details), 'name'), `in-${encoding}`);
      }
    });
  });
}
