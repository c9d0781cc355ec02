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

  test('is right also of what others have written in another order, with spaces or in another version', () => {
    const [kind, name] = ['"kind": "Lease"', '"metadata": { "name": "a" }'];
    for (const text of [
      `{ ${kind}, "apiVersion": "coordination.k8s.io/v1", ${name}, "spec": { "holderIdentity": "x" } }`,
      `{"apiVersion":"coordination.k8s.io/v1beta1",${kind},"spec":{"holderIdentity":"x"},${name}}`,
      '{"metadata":{"name":"a"},"kind":"Lease","apiVersion":"coordination.k8s.io/v1","spec":{"holderIdentity":"x"}}',
    ]) {
      const stored = { ...storedAt(7, 'x'), value: Buffer.from(text) };
      const shown = Buffer.from(show(stored)).toString('utf8');
      assert.deepEqual(JSON.parse(shown), {
        ...{ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' },
        ...{ metadata: { resourceVersion: '7', name: 'a' }, spec: { holderIdentity: 'x' } },
      });
      assert.equal(splice?.size(stored), shown.length);
    }
  });

  test('cannot be told of what is no such object, which is named', () => {
    for (const text of ['{not json', '[]', '{"kind":"Pod"}']) {
      const stored = { ...storedAt(7, 'x'), value: Buffer.from(text) };
      assert.throws(() => read(stored), /what is stored as \/registry\/leases\/x\/a cannot be read: /);
      assert.throws(() => show(stored), /\/registry\/leases\/x\/a/);
    }
  });
});
