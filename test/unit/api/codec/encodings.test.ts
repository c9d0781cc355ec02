import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeEnvelope, encodeEnvelope, encodeMessage } from '../../../../src/api/codec/protobuf/index.ts';
import type { ApiObject, EncodedBody, Encoding } from '../../../../src/api/index.ts';
import {
  apiVersionOf,
  DecodeError,
  decodeObject,
  encodeItem,
  encodeObject,
  encodeObjectList,
  leaseKind,
  loadYamlReader,
  nodeKind,
  partialObjectMetadata,
  servedKinds,
  toPartial,
} from '../../../../src/api/index.ts';
import { someValue } from './protobuf/arbitrary.ts';
import { setFields } from './protobuf/set-fields.ts';

const encodings: readonly Encoding[] = ['json', 'yaml', 'protobuf'];
const readYaml = await loadYamlReader();

function bodyOf(encoding: Encoding, bytes: Uint8Array): EncodedBody {
  return encoding === 'yaml' ? { encoding, bytes, read: readYaml } : { encoding, bytes };
}

const leaseVersion = 'coordination.k8s.io/v1';
const lease = (encoding: Encoding, bytes: Uint8Array | string) =>
  decodeObject(leaseKind, leaseVersion, bodyOf(encoding, Buffer.from(bytes)));

describe('what is encoded is decoded as the same', () => {
  for (const kind of servedKinds) {
    test(`${kind.group}/${kind.kind}`, () => {
      const apiVersion = apiVersionOf(kind, 'k8s.io');
      fc.assert(
        fc.property(fc.gen(), (gen) => {
          const type = { kind: kind.kind, apiVersion };
          const object = { ...someValue(kind.root, gen), ...type };
          fc.pre(!JSON.stringify(object).includes('\\\\')); // a key with a backslash is refused
          for (const encoding of encodings) {
            const decoded = decodeObject(
              kind,
              apiVersion,
              bodyOf(encoding, encodeObject(kind, object, encoding)),
            );
            const expected = Object.assign({}, setFields(kind.root, object), type);
            assert.deepEqual(decoded.object, expected, encoding);
            assert.deepEqual(decoded.complaints, [], encoding);
          }
        }),
        { numRuns: 30 },
      );
    });
  }
});

describe('a list', () => {
  const items: ApiObject[] = ['a', 'b'].map((name) => ({
    kind: 'Lease',
    apiVersion: leaseVersion,
    metadata: { name },
    spec: { holderIdentity: name },
  }));
  const head = { kind: 'LeaseList', apiVersion: leaseVersion, metadata: { resourceVersion: '7' } };
  const listOf = (encoding: Encoding, of: readonly ApiObject[]) =>
    encodeObjectList(
      head,
      of.map((item) => encodeItem(leaseKind, item, encoding)),
      encoding,
    );

  test('is the same in JSON and YAML', () => {
    for (const some of [items, items.slice(0, 1), []]) {
      assert.deepEqual(JSON.parse(listOf('json', some).toString()), { ...head, items: some });
      assert.deepEqual(readYaml(listOf('yaml', some).toString()).value, { ...head, items: some });
    }
    assert.match(
      listOf('yaml', items).toString(),
      /^apiVersion: .*\nitems:\n- apiVersion: (?:.*\n)*kind: LeaseList\nmetadata:\n/,
    );
  });

  test('is a message of metadata and items in protobuf', () => {
    const { raw, ...type } = decodeEnvelope(listOf('protobuf', items));
    assert.deepEqual(type, { kind: 'LeaseList', apiVersion: leaseVersion });
    for (const item of items)
      assert.ok(Buffer.from(raw).includes(Buffer.from(encodeMessage(leaseKind.root, item))));
  });
});

test('of an object there may be the metadata alone', () => {
  const partial = toPartial({ kind: 'Lease', metadata: { name: 'a', labels: { b: 'c' } } }, 'k8s.io');
  assert.deepEqual(partial, {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name: 'a', labels: { b: 'c' } },
  });
  const { raw, ...type } = decodeEnvelope(encodeObject(partialObjectMetadata, partial, 'protobuf'));
  assert.deepEqual(type, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
  assert.deepEqual(
    Uint8Array.from(raw),
    encodeMessage(leaseKind.root, { metadata: partial.metadata }),
    'as of any other object',
  );
});

describe('a body in YAML', () => {
  test('is read like one in JSON', () => {
    const { object, complaints } = lease(
      'yaml',
      'spec:\n  holderIdentity: a\n  renewTime: 2024-01-01T00:00:00Z\n',
    );
    assert.deepEqual(object, {
      kind: 'Lease',
      apiVersion: leaseVersion,
      spec: { holderIdentity: 'a', renewTime: '2024-01-01T00:00:00.000000Z' },
    });
    assert.deepEqual(complaints, []);
  });

  test('is complained of with every unknown and double field', () => {
    const text =
      'spec: {holder: 1, leaseTransitions: 1, leaseTransitions: 2}\nstatus:\nmetadata:\n  labels:\n    a: "1"\n    a: "2"\n';
    assert.deepEqual(lease('yaml', text).complaints, [
      'unknown field "spec.holder"',
      'unknown field "status"',
      'duplicate field "spec.leaseTransitions"',
      'duplicate field "metadata.labels.a"',
    ]);
  });

  test('has the types of YAML 1.1, and they must be the field’s', () => {
    assert.throws(
      () => lease('yaml', 'metadata: {labels: {a: yes, b: 012}}'),
      /metadata.labels.a: expected a string, found boolean true; metadata.labels.b: expected a string, found number 10/,
    );
  });

  test('may say nothing, and has whole characters only', () => {
    for (const text of ['', '# nothing', 'null']) assert.equal(lease('yaml', text).object.kind, 'Lease');
    const { object } = lease('yaml', 'metadata: {name: "a\\ud800", labels: {"\\udfff": b}}');
    assert.deepEqual(object.metadata, { name: 'a\ufffd', labels: { '\ufffd': 'b' } });
  });

  test('is refused with line and column when it is none', () => {
    assert.throws(
      () => lease('yaml', 'spec:\n  a: b: c'),
      /^DecodeError: the body is not valid YAML: line 2, column 7: /,
    );
    assert.throws(
      () => lease('yaml', '{}\n---\n{}'),
      /^DecodeError: the body is not valid YAML: there is more/,
    );
    for (const text of ['[]', 'text', '7']) {
      assert.throws(() => lease('yaml', text), /^DecodeError: expected an object of kind Lease, found/);
    }
    assert.throws(
      () => lease('yaml', Buffer.from([0x61, 0xff])),
      /^DecodeError: the body is not valid UTF-8/,
    );
    assert.throws(() => lease('yaml', 'kind: Node'), /the kind in the body is string "Node"/);
  });
});

describe('a body in protobuf', () => {
  const message = encodeMessage(leaseKind.root, { spec: { holderIdentity: 'a' } });

  test('may leave open what it is', () => {
    for (const type of [
      { kind: '', apiVersion: '' },
      { kind: 'Lease', apiVersion: leaseVersion },
    ]) {
      const { object, complaints } = lease('protobuf', encodeEnvelope(type, message));
      assert.deepEqual(object, { kind: 'Lease', apiVersion: leaseVersion, spec: { holderIdentity: 'a' } });
      assert.deepEqual(complaints, []);
    }
  });

  test('must not be of another type', () => {
    const node = encodeEnvelope({ kind: 'Node', apiVersion: 'v1' }, encodeMessage(nodeKind.root, {}));
    assert.throws(() => lease('protobuf', node), /the kind in the body is string "Node".* takes "Lease"/);
    const other = encodeEnvelope({ kind: 'Lease', apiVersion: 'v1' }, message);
    assert.throws(() => lease('protobuf', other), /the apiVersion in the body is string "v1"/);
  });

  test('is refused when it is none', () => {
    const whole = encodeEnvelope({ kind: 'Lease', apiVersion: leaseVersion }, message);
    for (const bytes of ['', '{}', whole.subarray(0, -3), whole.subarray(1)]) {
      assert.throws(() => lease('protobuf', bytes), DecodeError);
    }
    const wrong = encodeEnvelope(
      { kind: 'Lease', apiVersion: leaseVersion },
      Buffer.from([0x12, 0x02, 0x08, 0x01]),
    );
    assert.throws(
      () => lease('protobuf', wrong),
      /^DecodeError: the body is not valid protobuf: spec.holderIdentity: /,
    );
  });

  test('has no backslash in a key, as in JSON', () => {
    const labels = encodeMessage(leaseKind.root, { metadata: { labels: { 'a\\b': 'c' } } });
    assert.throws(
      () => lease('protobuf', encodeEnvelope({ kind: 'Lease', apiVersion: leaseVersion }, labels)),
      /^DecodeError: this server takes no keys with a backslash/,
    );
    const value = encodeMessage(leaseKind.root, { spec: { holderIdentity: 'a\\b' } });
    const { object } = lease('protobuf', encodeEnvelope({ kind: 'Lease', apiVersion: leaseVersion }, value));
    assert.equal(object.spec?.holderIdentity, 'a\\b');
  });
});
