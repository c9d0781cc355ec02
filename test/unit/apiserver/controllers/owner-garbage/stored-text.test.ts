import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  hasSameOwners,
  seemsDeleted,
} from '../../../../../src/apiserver/controllers/owner-garbage/stored-text.ts';
import type { Stored } from '../../../../../src/apiserver/storage/index.ts';

const stored = (object: object): Stored => ({
  key: '/registry/leases/default/a',
  revision: 1,
  createRevision: 1,
  value: new TextEncoder().encode(JSON.stringify(object)),
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('"ownerReferences":[', ']', '\\"]', '}', '"deletionTimestamp":'),
);
const owner = fc.record({ kind: text, name: text, uid: text, blockOwnerDeletion: fc.boolean() });
const object = fc.record({
  metadata: fc.record(
    {
      name: text,
      labels: fc.dictionary(fc.constantFrom('ownerReferences', 'a'), text),
      annotations: fc.dictionary(fc.constantFrom('deletionTimestamp', 'b'), text),
      ownerReferences: fc.array(owner, { minLength: 1, maxLength: 3 }),
      deletionTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    },
    { requiredKeys: ['name'] },
  ),
  spec: fc.option(fc.record({ renewTime: text })),
});

describe('what the stored bytes tell', () => {
  test('a change of owners is never missed, and renewing is none', () => {
    const owned = object.filter(({ metadata }) => metadata.ownerReferences !== undefined);
    const property = fc.property(object, owned, fc.boolean(), (before, next, keep) => {
      if (keep && before.metadata.ownerReferences !== undefined) {
        next.metadata.ownerReferences = before.metadata.ownerReferences;
      }
      const same = isDeepStrictEqual(before.metadata.ownerReferences, next.metadata.ownerReferences);
      assert.equal(hasSameOwners(stored(before), stored(next)), same);
      assert.equal(hasSameOwners(null, stored(next)), false);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('nor is their going, unless the same list stands elsewhere', () => {
    const owners = [{ uid: 'a' }];
    const before = stored({ metadata: { ownerReferences: owners } });
    assert.equal(hasSameOwners(before, stored({ metadata: {} })), false);
    assert.equal(hasSameOwners(stored({ metadata: {} }), stored({ metadata: {} })), true);
    assert.equal(hasSameOwners(null, stored({ metadata: {} })), true, 'there are none to look for');
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
