import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  hasSameOwners,
  seemsDeleted,
} from '../../../../../src/apiserver/controllers/owner-garbage/stored-text.ts';
import type { Stored } from '../../../../../src/apiserver/storage/index.ts';

const storedText = (json: string): Stored => ({
  key: '/registry/leases/default/a',
  revision: 1,
  createRevision: 1,
  value: new TextEncoder().encode(json),
});
/** As objects are stored: kind, version and metadata first. */
const stored = (object: object) => storedText(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', ...object }));

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '"ownerReferences":[',
    ']',
    '\\"]',
    '}',
    '"deletionTimestamp":',
    '"metadata":{',
    'ownerReferences',
  ),
);
const owner = fc.record({ kind: text, name: text, uid: text, blockOwnerDeletion: fc.boolean() });
const ownerReferences = fc.array(owner, { minLength: 1, maxLength: 3 });
/** A set of fields, which may be named as anything and nested in any way. */
const { fields } = fc.letrec((tie) => ({
  fields: fc.dictionary(
    fc.constantFrom('ownerReferences', 'metadata', 'f:name', ''),
    fc.oneof(
      { maxDepth: 3 },
      ownerReferences,
      fc.array(tie('fields'), { maxLength: 2 }),
      tie('fields'),
      text,
    ),
    { maxKeys: 3 },
  ),
}));
const metadata = fc.record(
  {
    name: text,
    labels: fc.dictionary(fc.constantFrom('ownerReferences', 'a'), text),
    annotations: fc.dictionary(fc.constantFrom('deletionTimestamp', 'b'), text),
    managedFields: fc.array(fc.record({ manager: text, fieldsV1: fields }), { maxLength: 2 }),
    ownerReferences,
    deletionTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    finalizers: fc.array(text, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const template = fc.record({ metadata: fc.record({ ownerReferences }, { requiredKeys: [] }) });
const ephemeral = fc.record({ volumeClaimTemplate: template });
const object = fc.record({
  metadata: fc.tuple(metadata, fc.boolean()).map(([made, isTurned]) => (isTurned ? turned(made) : made)),
  spec: fc.record(
    { renewTime: text, volumes: fc.array(fc.record({ ephemeral }), { maxLength: 2 }) },
    { requiredKeys: [] },
  ),
});

/** With its keys the other way round: the order is the client's. */
function turned<T extends object>(made: T): T {
  const keys = Object.keys(made).reverse();
  return Object.assign(Object.fromEntries(keys.map((key) => [key, undefined])), made);
}

describe('what the stored bytes tell', () => {
  test('a change of the own owners is never missed, and nothing else is one', () => {
    const property = fc.property(object, object, fc.boolean(), (before, changed, keep) => {
      const owners = keep ? before.metadata.ownerReferences : changed.metadata.ownerReferences;
      const next = { ...changed, metadata: { ...changed.metadata, ownerReferences: owners } };
      const same = isDeepStrictEqual(before.metadata.ownerReferences, owners);
      assert.equal(hasSameOwners(stored(before), stored(next)), same);
      assert.equal(hasSameOwners(null, stored(next)), owners === undefined);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('nor is their coming or going', () => {
    const owned = stored({ metadata: { ownerReferences: [{ uid: 'a' }] } });
    const free = stored({ metadata: {} });
    assert.equal(hasSameOwners(owned, free), false);
    assert.equal(hasSameOwners(free, owned), false);
    assert.equal(hasSameOwners(free, free), true);
    assert.equal(hasSameOwners(null, free), true, 'there are none to look for');
  });

  test('lists that stand elsewhere count for nothing', () => {
    const of = (uid: string) => ({ ownerReferences: [{ uid }] });
    const managed = (uid: string) => ({ managedFields: [{ fieldsV1: of(uid) }] });
    const before = stored({ metadata: managed('a') });
    assert.equal(hasSameOwners(before, stored({ metadata: managed('b') })), true);
    assert.equal(hasSameOwners(before, stored({ metadata: { ...managed('a'), ...of('a') } })), false);
    assert.equal(hasSameOwners(before, stored({ metadata: of('a') })), false);
    assert.equal(
      hasSameOwners(before, stored({ metadata: {}, spec: { template: { metadata: of('a') } } })),
      true,
    );
  });

  test('whatever is not written as this server writes may have changed its owners', () => {
    const foreign = (uid: string) =>
      storedText(`{ "metadata": { "ownerReferences": [{ "uid": "${uid}" }] } }`);
    assert.equal(hasSameOwners(foreign('a'), foreign('b')), false);
    assert.equal(hasSameOwners(null, foreign('a')), false);
  });

  test('a deletion is never missed', () => {
    const property = fc.property(object, (any) => {
      if (any.metadata.deletionTimestamp !== undefined) assert.ok(seemsDeleted(stored(any)));
    });
    fc.assert(property);
    assert.equal(
      seemsDeleted(stored({ metadata: { name: 'a', annotations: { x: '"deletionTimestamp":' } } })),
      false,
    );
  });
});
