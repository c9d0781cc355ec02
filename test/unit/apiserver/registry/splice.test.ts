import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { leaseKind } from '../../../../src/api/index.ts';
import { objectEncoding } from '../../../../src/apiserver/registry/encoding.ts';

const { encode, read, show, splice } = objectEncoding(leaseKind, 'k8s.io');

function storedAt(revision: number, holder: string) {
  const lease = { metadata: { name: 'a', labels: { holder } }, spec: { holderIdentity: holder } };
  return { key: '/registry/leases/x/a', revision, createRevision: 1, value: encode(lease) };
}

describe('the JSON that is shown of a stored object', () => {
  test('is the object with its version, whatever the version and the object', () => {
    const revisions = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(revisions, fc.string({ unit: 'grapheme' }), (revision, holder) => {
        const stored = storedAt(revision, holder);
        const shown = JSON.parse(Buffer.from(show(stored)).toString('utf8'));
        assert.equal(shown.metadata.resourceVersion, String(revision));
        assert.deepEqual(shown, read(stored));
      }),
    );
  });

  test('can be written into a place, of the size that was told, touching nothing around it', () => {
    assert.ok(splice);
    for (const revision of [1, 9, 10, 99, 100, 999_999_999_999, Number.MAX_SAFE_INTEGER]) {
      const stored = storedAt(revision, 'näher');
      const size = splice.size(stored);
      const target = Buffer.alloc(size + 10, '#');
      assert.equal(splice.write(stored, target, 5), size + 5);
      assert.equal(target.toString('utf8'), `#####${Buffer.from(show(stored)).toString('utf8')}#####`);
    }
  });
});
