import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { StatusReason } from '../../../../src/api/index.ts';
import {
  alreadyExists,
  conflict,
  forbidden,
  fromStatus,
  invalid,
  leaseKind,
  nodeKind,
  notFound,
  StatusError,
  statusReasons,
} from '../../../../src/api/index.ts';

const suffix = 'k8s.io';

function isReason(text: string): text is StatusReason {
  return Object.hasOwn(statusReasons, text);
}

describe('a status error', () => {
  test('goes through a Status body and back, for every reason', () => {
    const reasons = fc.constantFrom(...Object.keys(statusReasons).filter(isReason));
    const details = fc.record(
      { name: fc.string(), retryAfterSeconds: fc.nat() },
      { requiredKeys: [], noNullPrototype: true },
    );
    fc.assert(
      fc.property(reasons, fc.string(), fc.option(details, { nil: undefined }), (reason, message, given) => {
        const error = new StatusError(reason, message, given === undefined ? {} : { details: given });
        const body = JSON.parse(JSON.stringify(error.toStatus()));
        const back = fromStatus(body, 599);
        assert.deepEqual(
          [back.reason, back.message, back.code, back.details],
          [reason, message, statusReasons[reason], given],
        );
      }),
    );
  });

  test('has the body that clients expect', () => {
    assert.deepEqual(new StatusError('Gone', 'away').toStatus(), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'away',
      reason: 'Gone',
      code: 410,
    });
  });

  test('made of what another server says is never more certain than that', () => {
    const strange = fromStatus({ reason: 'toString', code: 418 }, 500);
    assert.deepEqual([strange.reason, strange.code], ['', 418]);
    const empty = fromStatus({ code: 0 }, 502);
    assert.deepEqual([empty.reason, empty.code, empty.message], ['', 502, 'the server answered 502']);
    assert.ok(!('reason' in empty.toStatus()));
  });

  test('keeps its cause to itself', () => {
    const error = new StatusError('InternalError', 'something broke', { cause: new Error('secret') });
    assert.ok(!JSON.stringify(error.toStatus()).includes('secret'));
    assert.equal(String(error.cause), 'Error: secret');
  });
});

describe('the usual failures', () => {
  test('speak in the words that clients look for', () => {
    assert.equal(notFound(nodeKind, suffix, 'a').message, 'nodes "a" not found');
    assert.equal(
      alreadyExists(leaseKind, suffix, 'a').message,
      'leases.coordination.k8s.io "a" already exists',
    );
    assert.equal(
      conflict(leaseKind, 'example.org', 'a', 'it moved').message,
      'Operation cannot be fulfilled on leases.coordination.example.org "a": it moved',
    );
    assert.equal(
      forbidden(
        { group: 'coordination.k8s.io', resource: 'leases', namespace: 'x', name: 'a' },
        { user: 'ann', verb: 'get' },
      ).message,
      'leases.coordination.k8s.io "a" is forbidden: User "ann" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "x"',
    );
    assert.equal(
      forbidden(
        { group: '', resource: 'nodes', namespace: '', name: '' },
        { user: 'ann', verb: 'list', reason: 'no' },
      ).message,
      'nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope: no',
    );
  });

  test('name the object in the details', () => {
    const { code, details } = notFound(leaseKind, suffix, 'a');
    assert.deepEqual([code, details], [404, { name: 'a', group: 'coordination.k8s.io', kind: 'leases' }]);
    assert.deepEqual(notFound(nodeKind, suffix, 'a').details, { name: 'a', kind: 'nodes' });
  });

  test('an invalid object is told with one cause or with several', () => {
    const cause = {
      reason: 'FieldValueInvalid',
      field: 'spec.x',
      message: 'Invalid value: 1: too small',
    } as const;
    const one = invalid(leaseKind, suffix, 'a', [cause]);
    assert.equal(
      one.message,
      'Lease.coordination.k8s.io "a" is invalid: spec.x: Invalid value: 1: too small',
    );
    assert.deepEqual(one.details, {
      name: 'a',
      group: 'coordination.k8s.io',
      kind: 'Lease',
      causes: [cause],
    });
    const two = invalid(nodeKind, suffix, '', [cause, { ...cause, field: 'spec.y' }]);
    assert.match(two.message, /^Node "" is invalid: \[spec.x: .*, spec.y: .*\]$/);
  });

  test('of ten thousand causes a hundred are told, and how many are not', () => {
    const cause = { reason: 'FieldValueInvalid', field: 'f', message: 'm' } as const;
    const error = invalid(nodeKind, suffix, 'a', Array(10_000).fill(cause));
    assert.equal(error.details?.causes?.length, 100);
    assert.match(error.message, /, and 9900 more\]$/);
  });
});
