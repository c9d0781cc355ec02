import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRenewal } from '../../../../../src/apiserver/controllers/node-lifecycle/renewals.ts';

/** A lease as it is stored. */
function stored(renewTime: string | undefined, metadata: object = {}) {
  const spec = { holderIdentity: 'a', ...(renewTime === undefined ? {} : { renewTime }) };
  const lease = {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name: 'a', ...metadata },
    spec,
  };
  return {
    key: '/registry/leases/kube-node-lease/a',
    revision: 1,
    createRevision: 1,
    value: Buffer.from(JSON.stringify(lease)),
  };
}

describe('a write of a lease is a sign of life', () => {
  const first = '2025-01-01T00:00:00.000000Z';
  const second = '2025-01-01T00:00:10.000000Z';

  test('when its time is new', () => {
    assert.ok(isRenewal(null, stored(first)));
    assert.ok(isRenewal(stored(undefined), stored(first)));
    assert.ok(isRenewal(stored(first), stored(second)));
    assert.ok(isRenewal(stored(second), stored(first))); // a clock that was set back
  });

  test('and not when something else of it is', () => {
    const managed = { managedFields: [{ fieldsV1: { 'f:spec': { 'f:renewTime': {} } }, time: second }] };
    for (const metadata of [
      { labels: { a: 'b' } },
      managed,
      { annotations: { renewTime: 'x', y: '"renewTime":"' } },
    ]) {
      assert.equal(isRenewal(stored(first), stored(first, metadata)), false);
    }
    assert.equal(isRenewal(null, stored(undefined)), false);
    assert.equal(isRenewal(stored(first), stored(undefined)), false);
  });
});
