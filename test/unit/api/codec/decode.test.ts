import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  canonicalObject,
  certificateSigningRequestKind,
  DecodeError,
  decodeObject,
  leaseKind,
  nodeKind,
  readStored,
} from '../../../../src/api/index.ts';
import { jsonBody } from '../../../support/index.ts';

const leaseVersion = 'coordination.k8s.io/v1';
const lease = (text: string) => decodeObject(leaseKind, leaseVersion, jsonBody(text));

describe('decoding the body of a write', () => {
  test('gives the object with what the path says of its type filled in', () => {
    for (const given of [
      '',
      '"kind":"Lease",',
      `"apiVersion":"${leaseVersion}",`,
      '"kind":"","apiVersion":null,',
    ]) {
      const { object, complaints } = lease(`{${given}"spec":{"holderIdentity":"a"}}`);
      assert.deepEqual(object, { kind: 'Lease', apiVersion: leaseVersion, spec: { holderIdentity: 'a' } });
      assert.deepEqual(complaints, []);
    }
  });

  test('refuses another kind or version than the path’s', () => {
    assert.throws(() => lease('{"kind":"Node"}'), /the kind in the body is string "Node".* takes "Lease"/);
    assert.throws(() => lease('{"apiVersion":"v1"}'), /the apiVersion in the body/);
    assert.throws(() => lease('{"kind":["Lease"]}'), DecodeError);
  });

  test('refuses what is no JSON, no object, nested too deeply or of wrong types', () => {
    for (const text of ['', '[]', '"Lease"', '7', '{"spec":']) {
      assert.throws(() => lease(text), DecodeError, text);
    }
    assert.throws(() => lease(`{"x":${'['.repeat(300)}${']'.repeat(300)}}`), /not valid JSON: nested deeper/);
    assert.throws(
      () => lease('{"spec":{"leaseDurationSeconds":"40","renewTime":"now"}}'),
      /^DecodeError: Lease cannot be read: spec.leaseDurationSeconds: expected a 32-bit integer, found string "40"; spec.renewTime: /,
    );
  });

  test('the body null is an object without a name', () => {
    assert.deepEqual(lease('null').object, { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' });
    assert.deepEqual(lease(' null ').complaints, []);
  });

  test('refuses a byte order mark before JSON', () => {
    assert.throws(() => lease('\ufeff{}'), /not valid JSON: line 1, column 1: expected a value/);
  });

  test('reads a lone surrogate as U+FFFD, in a key too', () => {
    const { object, complaints } = lease(
      '{"metadata":{"name":"a\\ud800","labels":{"\\uDFFFx":"\\ud83d\\ude00"}},"spec":{"holderIdentity":"\\ude00\\ud83d"}}',
    );
    assert.equal(object.metadata?.name, 'a\ufffd');
    assert.deepEqual(object.metadata?.labels, { '\ufffdx': '\u{1f600}' });
    assert.equal(object.spec?.holderIdentity, '\ufffd\ufffd');
    assert.deepEqual(complaints, []);
    const twice = lease('{"metadata":{"labels":{"\\ud800":"a","\\ud801":"b"}}}');
    assert.deepEqual(twice.object.metadata?.labels, { '\ufffd': 'b' });
    assert.deepEqual(twice.complaints, ['duplicate field "metadata.labels.\ufffd"']);
  });

  test('complains of unknown and of double fields, each once, and drops the unknown', () => {
    const { object, complaints } = lease(
      '{"spec":{"holder":1,"leaseTransitions":1,"leaseTransitions":2,"leaseTransitions":3},"status":{},"metadata":{"labels":{"a":"1","a":"2"}}}',
    );
    assert.deepEqual(complaints, [
      'unknown field "spec.holder"',
      'unknown field "status"',
      'duplicate field "spec.leaseTransitions"',
      'duplicate field "metadata.labels.a"',
    ]);
    assert.deepEqual(object.spec, { leaseTransitions: 3 });
    assert.ok(!('status' in object));
  });

  test('a double kind or apiVersion counts too, and the last one stands', () => {
    assert.deepEqual(lease('{"kind":"Node","kind":"Lease"}').complaints, ['duplicate field "kind"']);
    assert.throws(() => lease('{"kind":"Lease","kind":"Node"}'), DecodeError);
  });

  test('what other clients send is kept so that others can read it', () => {
    const { object } = lease(
      '{"metadata":{"creationTimestamp":null},"spec":{"renewTime":"2024-05-01T12:00:00.5+02:00","acquireTime":null}}',
    );
    assert.deepEqual(object.metadata, undefined, 'nothing in it is set');
    assert.deepEqual(object.spec, { renewTime: '2024-05-01T10:00:00.500000Z' });
    const node = decodeObject(
      nodeKind,
      'v1',
      jsonBody('{"status":{"capacity":{"cpu":4,"memory":"16Gi"}}}'),
    ).object;
    assert.deepEqual(node.status?.capacity, { cpu: '4', memory: '16Gi' });
  });

  test('no key of a body reaches a prototype', () => {
    const { object, complaints } = lease(
      '{"__proto__":{"kind":"x"},"metadata":{"__proto__":{"name":"x"},"labels":{"__proto__":"y"}}}',
    );
    assert.equal(object.metadata?.name, undefined);
    assert.equal(Object.getPrototypeOf(object), Object.prototype);
    assert.deepEqual(complaints, ['unknown field "__proto__"', 'unknown field "metadata.__proto__"']);
    assert.equal(JSON.stringify(object.metadata), '{"labels":{"__proto__":"y"}}');
  });

  test('a body full of mistakes gets an answer of bounded length', () => {
    const taints = Array.from({ length: 50_000 }, () => '{"key":1}').join();
    assert.throws(
      () => decodeObject(nodeKind, 'v1', jsonBody(`{"spec":{"taints":[${taints}]}}`)),
      (error) => error instanceof DecodeError && error.message.length < 20_000,
    );
  });
});

describe('reading what the server has stored', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test('gives it back as it is', () => {
    const text = '{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"ä😀"}}';
    assert.deepEqual(readStored(leaseKind, bytes(text)), JSON.parse(text));
  });

  test('refuses bytes of another kind and bytes that are no text', () => {
    assert.throws(() => readStored(leaseKind, bytes('{"kind":"Node"}')), /stored bytes are no Lease/);
    assert.throws(
      () => readStored(certificateSigningRequestKind, bytes('[]')),
      /no CertificateSigningRequest/,
    );
    assert.throws(() => readStored(leaseKind, new Uint8Array([0x7b, 0xff, 0x7d])), TypeError);
  });
});

test('of very many unknown and double fields a thousand are told, and that there are more', () => {
  const many = Array.from({ length: 1500 }, (_, index) => `"k${index}":1,"k${index}":2`).join();
  const { complaints } = lease(`{${many}}`);
  assert.equal(complaints.length, 2002);
  assert.equal(complaints[1000], 'and more than 1000 unknown fields in all');
  assert.equal(complaints.at(-1), 'and more than 1000 duplicate fields in all');
});

test('an object of ours is made what a server answers: no zeros that say nothing, canonical quantities', () => {
  const status = { capacity: { memory: '123456789000' }, images: [], phase: '' };
  const node = { kind: 'Node', metadata: { name: 'n', labels: {} }, status };
  assert.deepEqual(canonicalObject(nodeKind, node), {
    kind: 'Node',
    metadata: { name: 'n' },
    status: { capacity: { memory: '123456789k' } },
  });
  assert.equal(status.phase, '', 'what was given stays as it is');
});
