import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeEnvelope,
  decodeMessage,
  encodeMessage,
  ProtobufError,
} from '../../../../../src/api/codec/protobuf/index.ts';
import type { Findings, StructType } from '../../../../../src/api/schema/index.ts';
import { checkerOf } from '../../../../../src/api/schema/index.ts';
import { someValue } from './arbitrary.ts';
import { everything } from './everything.ts';
import { goldenName, goldenTypes, readGolden } from './golden.ts';
import { setFields } from './set-fields.ts';

const described = [
  { kind: 'Everything', root: everything },
  ...goldenTypes.map(({ apiVersion, kind, root }) => ({ kind: `${kind} of ${apiVersion}`, root })),
];

describe('any value of a description', () => {
  for (const { kind, root } of described) {
    it(`comes back from its bytes with all that is set: ${kind}`, () => {
      const property = fc.property(fc.gen(), (gen) => {
        const value = someValue(root, gen);

        const decoded = decodeMessage(root, encodeMessage(root, value));

        assert.deepEqual(decoded, setFields(root, value));
      });
      fc.assert(property, { numRuns: kind === 'Everything' ? 500 : 50 });
    });
  }
});

describe('any bytes', () => {
  it('are a value that the checker takes as it is, or no message', () => {
    const property = fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.nat(described.length - 1),
      (bytes, at) => {
        expectValueOrError(described[at]?.root ?? everything, bytes);
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });

  it('are so too when they come from a message by mutation', () => {
    for (const type of goldenTypes) {
      const { raw } = decodeEnvelope(readGolden('full', goldenName(type)).bytes);
      const property = fc.property(mutations, (mutation) => {
        expectValueOrError(type.root, mutated(raw, mutation));
      });
      fc.assert(property, { numRuns: 100 });
    }
  });

  it('are so too when they come from a message that has everything', () => {
    const property = fc.property(fc.gen(), mutations, (gen, mutation) => {
      expectValueOrError(
        everything,
        mutated(encodeMessage(everything, someValue(everything, gen)), mutation),
      );
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('are an envelope or an error', () => {
    const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
    const property = fc.property(fc.boolean(), fc.uint8Array({ maxLength: 60 }), (withMagic, bytes) => {
      const body = withMagic ? Buffer.concat([magic, bytes]) : bytes;
      valueOrProtobufError(() => decodeEnvelope(body));
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

/** Each byte that is written over another, then where the message is cut and what is put there. */
const mutations = fc.record({
  overwritten: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
  cutAt: fc.option(fc.nat(), { freq: 2 }),
  appended: fc.uint8Array({ maxLength: 12 }),
});

function mutated(bytes: Uint8Array, mutation: typeof mutations extends fc.Arbitrary<infer M> ? M : never) {
  const { overwritten, cutAt, appended } = mutation;
  const copy = Uint8Array.from(bytes);
  for (const [at, byte] of overwritten) if (copy.length > 0) copy[at % copy.length] = byte;
  const kept = cutAt === null ? copy : copy.subarray(0, cutAt % (copy.length + 1));
  return Buffer.concat([kept, appended]);
}

function expectValueOrError(root: StructType, bytes: Uint8Array): void {
  const decoded = valueOrProtobufError(() => decodeMessage(root, bytes));
  if (decoded === undefined) return;
  const findings: Findings = { unknown: [], wrong: [] };
  const checked = checkerOf(root)(structuredClone(decoded), undefined, findings);
  assert.deepEqual({ findings, checked }, { findings: { unknown: [], wrong: [] }, checked: decoded });
  assert.deepEqual(decodeMessage(root, encodeMessage(root, decoded)), decoded);
}

function valueOrProtobufError<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    assert.ok(error instanceof ProtobufError, `an error of another kind: ${error}`);
    return undefined;
  }
}
