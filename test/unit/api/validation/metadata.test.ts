import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Kind, ObjectMeta } from '../../../../src/api/index.ts';
import {
  certificateSigningRequestKind,
  leaseKind,
  namespaceKind,
  nodeKind,
  validateLifetime,
  validateMetadata,
} from '../../../../src/api/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

/** What is wrong with the metadata of a lease `a` in namespace `x` that also says `meta`; `field: message` each. */
function causes(meta: ObjectMeta, options: { kind?: Kind; old?: ObjectMeta } = {}): string[] {
  const { kind = leaseKind, old } = options;
  const place = kind.namespaced ? { namespace: 'x' } : {};
  const next = { metadata: { name: 'a', ...place, ...meta } };
  const found = validateMetadata(kind, next, old && { metadata: old });
  return found.map(({ field, message }) => `${field}: ${message}`);
}

describe('metadata', () => {
  test('that is in order has no causes', () => {
    assert.deepEqual(causes({}), []);
    assert.deepEqual(
      causes({
        generateName: 'a-',
        labels: { 'kubernetes.io/os': 'linux', empty: '' },
        annotations: { 'Example.com/Any-Thing': '\u0000 whatever {"json": true}' },
        finalizers: ['example.com/hold', 'orphan'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u', controller: true }],
      }),
      [],
    );
  });

  test('needs a name that keeps the kind’s rule', () => {
    assert.deepEqual(causes({ name: '' }), [
      'metadata.name: Required value: name or generateName is required',
    ]);
    assert.match(
      causes({ name: 'A' })[0] ?? '',
      /^metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain/,
    );
    assert.deepEqual(causes({ name: 'a.b' }, { kind: nodeKind }), []);
    assert.match(causes({ name: 'a.b' }, { kind: namespaceKind })[0] ?? '', /RFC 1123 label/);
    assert.match(
      causes({ generateName: 'UPPER-' })[0] ?? '',
      /^metadata.generateName: Invalid value: "UPPER-"/,
    );
    assert.deepEqual(causes({ name: 'Any thing!' }, { kind: certificateSigningRequestKind }), []);
    assert.match(
      causes({ name: 'a%b' }, { kind: certificateSigningRequestKind })[0] ?? '',
      /may not contain '%'/,
    );
  });

  test('keeps its name, and so it is looked at once', () => {
    assert.deepEqual(causes({ name: 'Older_Than_The_Rule', generateName: 'A' }, { old: {} }), []);
  });

  test('has a namespace exactly where the kind has one', () => {
    assert.deepEqual(causes({ namespace: '' }), ['metadata.namespace: Required value']);
    assert.match(causes({ namespace: 'a.b' })[0] ?? '', /^metadata.namespace: Invalid value: "a.b"/);
    assert.deepEqual(causes({ namespace: 'x' }, { kind: nodeKind }), [
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });

  test('tells of each bad label, key and value', () => {
    const found = causes({ labels: { '-a': 'ok', b: 'not ok', '/c': '-' } });
    assert.equal(found.length, 4);
    assert.ok(found.every((text) => text.startsWith('metadata.labels: Invalid value: ')));
  });

  test('holds annotations to good keys and 256 KiB in all', () => {
    assert.match(
      causes({ annotations: { 'a b': '' } })[0] ?? '',
      /^metadata.annotations: Invalid value: "a b"/,
    );
    const limit = 256 * 1024;
    assert.deepEqual(causes({ annotations: { key: 'x'.repeat(limit - 3) } }), []);
    assert.deepEqual(causes({ annotations: { key: 'x'.repeat(limit - 2) } }), [
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ]);
    assert.equal(causes({ annotations: { key: 'ä'.repeat(limit / 2) } }).length, 1, 'counted in bytes');
  });

  test('takes no bad finalizers, and none that contradict each other', () => {
    assert.match(
      causes({ finalizers: ['example.com/ok', 'not ok'] })[0] ?? '',
      /^metadata.finalizers\[1\]: Invalid value/,
    );
    assert.deepEqual(causes({ finalizers: ['mine'] }), [
      'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    assert.match(causes({ finalizers: ['orphan', 'foregroundDeletion'] })[0] ?? '', /cannot be both set/);
  });

  test('takes finalizers away from what is being deleted, and adds none', () => {
    const old = { finalizers: ['x/a', 'x/b'], deletionTimestamp: '2024-01-01T00:00:00Z' };
    assert.deepEqual(causes({ finalizers: ['x/b'] }, { old }), []);
    assert.match(
      causes({ finalizers: ['x/b', 'x/c'] }, { old })[0] ?? '',
      /^metadata.finalizers: Forbidden: .*\["x\/c"\]/,
    );
    assert.deepEqual(causes({ finalizers: ['x/c'] }, { old: {} }), []);
  });

  test('needs owners that are told in full, one of them the controller at most', () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u', controller: true };
    assert.deepEqual(causes({ ownerReferences: [{ ...owner, uid: '', kind: '' }] }), [
      'metadata.ownerReferences[0].kind: Required value: must not be empty',
      'metadata.ownerReferences[0].uid: Required value: must not be empty',
    ]);
    assert.match(
      causes({ ownerReferences: [owner, { ...owner, uid: 'v' }] })[0] ?? '',
      /Only one reference can have Controller set to true. Found "true" in references for Node\/a and Node\/a$/,
    );
  });

  test('needs owners of a group and version, and no events', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'Node', name: 'a', uid: 'u' };
    const of = (change: object) => causes({ ownerReferences: [{ ...owner, ...change }] });
    assert.deepEqual(of({}), []);
    for (const apiVersion of ['apps/', 'a/b/c', '/']) {
      assert.deepEqual(of({ apiVersion }), [
        `metadata.ownerReferences[0].apiVersion: Invalid value: "${apiVersion}": must be <group>/<version> or <version>`,
      ]);
    }
    assert.deepEqual(of({ apiVersion: '' }), [
      'metadata.ownerReferences[0].apiVersion: Required value: must not be empty',
    ]);
    assert.match(
      of({ apiVersion: 'v1', kind: 'Event' })[0] ?? '',
      /^metadata.ownerReferences\[0\]: .*\/v1, Kind=Event is disallowed from being an owner$/,
    );
    assert.deepEqual(of({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }), []);
  });

  test('does not begin or hasten the end of an object', () => {
    const fields = (given: ObjectMeta, old: ObjectMeta) =>
      validateLifetime(given, old).map(({ field, message }) => `${field}: ${message}`);
    const deletionTimestamp = '2024-01-01T00:00:00Z';
    assert.deepEqual(fields({ deletionTimestamp, deletionGracePeriodSeconds: 0 }, {}), [
      `metadata.deletionTimestamp: Invalid value: "${deletionTimestamp}": field is immutable`,
      'metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable',
    ]);
    const old = { deletionTimestamp, deletionGracePeriodSeconds: 30 };
    assert.deepEqual(fields({}, old), [], 'what is left out is kept');
    assert.deepEqual(fields(old, old), []);
    assert.deepEqual(fields({ deletionTimestamp: '2030-01-01T00:00:00Z' }, old), [], 'that is ignored');
    assert.equal(fields({ deletionGracePeriodSeconds: 1 }, old).length, 1);
  });

  test('a bad value of megabytes is told in short', () => {
    const [text = ''] = causes({ name: 'A'.repeat(3_000_000) });
    assert.ok(text.length < 700);
  });

  test('many finalizers are looked at in a moment', () => {
    const finalizers = Array.from({ length: 50_000 }, (_, index) => `example.com/f${index}`);
    const tookMs = cpuMsOf(() =>
      assert.deepEqual(
        causes({ finalizers }, { old: { finalizers, deletionTimestamp: '2024-01-01T00:00:00Z' } }),
        [],
      ),
    );
    assert.ok(tookMs < 2000, `${tookMs} ms`);
  });
});
