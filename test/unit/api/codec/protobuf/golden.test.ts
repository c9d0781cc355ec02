import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeEnvelope,
  decodeMessage,
  encodeEnvelope,
  encodeList,
  encodeMessage,
  encodeWatchEvent,
} from '../../../../../src/api/codec/protobuf/index.ts';
import { leaseKind, objectStruct } from '../../../../../src/api/kinds/index.ts';
import type { Findings, StructType } from '../../../../../src/api/schema/index.ts';
import { checkerOf, isRecord, withWritten } from '../../../../../src/api/schema/index.ts';
import type { GoldenType } from './golden.ts';
import { goldenName, goldenTypes, readGolden, samples } from './golden.ts';
import { withoutEmptyTexts } from './set-fields.ts';

describe('protobuf that an independent writer has made', () => {
  for (const type of goldenTypes) {
    for (const sample of samples) {
      it(`reads as its JSON: ${type.kind} of ${type.apiVersion}, ${sample}`, () => {
        const { json, bytes } = readGolden(sample, goldenName(type));
        const { raw, ...envelope } = decodeEnvelope(bytes);
        assert.deepEqual(envelope, { apiVersion: type.apiVersion, kind: type.kind });

        const decoded = decodeMessage(type.root, raw);

        const expected = strictly(type.root, json).value;
        assert.deepEqual(withoutEmptyTexts(type.root, decoded), withoutEmptyTexts(type.root, expected));
        assert.deepEqual(strictly(type.root, decoded), { value: decoded, unknown: [] });
        assert.deepEqual(decodeMessage(type.root, encodeMessage(type.root, decoded)), decoded);
      });
    }

    it(`is written byte for byte where every field is set: ${type.kind} of ${type.apiVersion}`, () => {
      const { json, bytes } = readGolden('full', goldenName(type));
      const { value, unknown } = strictly(type.root, json);
      assert.deepEqual(unknown, []);

      assert.deepEqual(hex(encodeEnvelope(type, encodeMessage(type.root, value))), hex(bytes));
    });
  }

  it('loses nothing that the reference writes as JSON', () => {
    const lost = goldenTypes.flatMap(({ apiVersion, kind, root }) =>
      samples.flatMap((sample) => {
        const { json } = readGolden(sample, goldenName({ apiVersion, kind }));
        return missingFrom(withWritten(root, strictly(root, json).value), json, `${kind} of ${apiVersion}`);
      }),
    );
    assert.deepEqual(lost, []);
  });

  it('is written byte for byte: a list, from the messages of its items', () => {
    const { json, bytes } = readGolden('full', 'coordination.k8s.io.v1.LeaseList');
    const { apiVersion, kind, metadata, items } = listOf(json);

    const encoded = encodeList(
      items.map((item) => encodeMessage(leaseKind.root, item)),
      metadata,
    );

    assert.deepEqual(hex(encodeEnvelope({ apiVersion, kind }, encoded)), hex(bytes));
  });

  it('is written byte for byte: a list of metadata alone', () => {
    const { json, bytes } = readGolden('full', 'meta.k8s.io.v1.PartialObjectMetadataList');
    const { apiVersion, kind, metadata, items } = listOf(json);
    const root = objectStruct('PartialObjectMetadata', {});

    const encoded = encodeList(
      items.map((item) => encodeMessage(root, item)),
      metadata,
    );

    assert.deepEqual(hex(encodeEnvelope({ apiVersion, kind }, encoded)), hex(bytes));
  });

  it('is written byte for byte: a frame of a watch', () => {
    const { json, bytes } = readGolden('full', 'meta.k8s.io.v1.WatchEvent');
    assert.ok(isRecord(json));
    const type: GoldenType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', root: leaseKind.root };

    const object = encodeEnvelope(type, encodeMessage(type.root, json['object']));

    assert.deepEqual(hex(encodeWatchEvent(String(json['type']), object)), hex(bytes));
  });
});

/** As the strict checker leaves it, and what of it the description does not know. */
function strictly(root: StructType, json: unknown): { value: unknown; unknown: string[] } {
  const findings: Findings = { unknown: [], wrong: [] };
  const value = checkerOf(root)(structuredClone(json), undefined, findings);
  assert.deepEqual(findings.wrong, []);
  return { value, unknown: findings.unknown };
}

/** Null, and a map of times of which none is set. */
function isNothing(value: unknown): boolean {
  if (value === null) return true;
  if (!isRecord(value)) return false;
  const inner = Object.values(value);
  return inner.length > 0 && inner.every((each) => each === null);
}

/** Paths of what is in `before` and not in `after`; null is nothing. */
function missingFrom(after: unknown, before: unknown, path: string): string[] {
  if (isNothing(before)) return [];
  if (after === undefined) return [path];
  if (Array.isArray(before) && Array.isArray(after))
    return before.flatMap((item, index) => missingFrom(after[index], item, `${path}[${index}]`));
  if (!isRecord(before) || !isRecord(after)) return [];
  return Object.entries(before).flatMap(([name, inner]) =>
    missingFrom(after[name], inner, `${path}.${name}`),
  );
}

function listOf(json: unknown) {
  assert.ok(isRecord(json) && isRecord(json['metadata']) && Array.isArray(json['items']));
  const { apiVersion, kind, metadata, items } = json;
  return { apiVersion: String(apiVersion), kind: String(kind), metadata, items };
}

/** In lines, so that a difference is short to read. */
function hex(bytes: Uint8Array): string[] {
  return (
    Buffer.from(bytes)
      .toString('hex')
      .match(/.{1,64}/g) ?? []
  );
}
