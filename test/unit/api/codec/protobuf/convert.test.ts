import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GeneratorValue } from 'fast-check';
import fc from 'fast-check';
import { encodeMessage, jsonConverter } from '../../../../../src/api/codec/protobuf/index.ts';
import { servedKinds } from '../../../../../src/api/kinds/index.ts';
import type { StructType } from '../../../../../src/api/schema/index.ts';
import { isRecord } from '../../../../../src/api/schema/index.ts';
import { someValue } from './arbitrary.ts';
import { everything } from './everything.ts';

const described = [
  { kind: 'Everything', root: everything },
  ...servedKinds.map(({ kind, group, root }) => ({ kind: `${kind} of ${group}`, root })),
];

describe('a list or streaming list in protobuf, made of JSON that the server has written', () => {
  for (const { kind, root } of described) {
    it(`has the bytes that a parsed object has, whatever the order of its fields: ${kind}`, () => {
      const property = fc.property(fc.gen(), (gen) => {
        const { metadata, ...rest } = someValue(root, gen);
        const { resourceVersion: _version, ...others } = isRecord(metadata) ? metadata : {};
        const json = JSON.stringify(
          shuffled(metadata === undefined ? rest : { ...rest, metadata: others }, gen),
        );
        expectSame(root, json, gen(fc.nat), gen);
      });
      fc.assert(property, { numRuns: kind === 'Everything' ? 1000 : 60, endOnFailure: true });
    });
  }

  it('has the text of escapes', () => {
    expectBytes(String.raw`{"string":"a\"\u00e9\ud83d\ude00\n","texts":["\\"]}`);
    expectBytes(String.raw`{"string":"lone \ud800"}`);
  });

  it('has lengths of any size', () => {
    for (const length of [127, 128, 16_383, 16_384, 70_000]) {
      expectBytes(JSON.stringify({ nested: { nested: { string: 'x'.repeat(length) } }, int32: 1 }));
    }
  });

  it('has nothing for null, and for what its description does not know', () => {
    expectBytes(
      '{"kind":"Everything","string":null,"new":{"a":["}"],"b":"\\""},"other":-1.5e3,"int32":7,"raw":null}',
    );
  });

  it('has negative and large numbers', () => {
    expectBytes('{"int32":-1,"int64":-9007199254740991,"double":-0.5,"intOrString":-3}');
    expectBytes('{"int32":2147483647,"int64":9007199254740991,"intOrString":2147483647}');
  });

  it('has times before 1970, after 2099, and at the end of a month', () => {
    for (const day of ['1969-12-31', '2100-03-01', '2024-02-29', '2026-01-31', '2000-03-01', '1970-01-01']) {
      expectBytes(`{"time":"${day}T23:59:59Z","microTime":"${day}T00:00:00.000001Z"}`);
    }
  });

  it('has a message around fields that JSON has one level higher, for one of them and for several', () => {
    expectBytes('{"texts":["a"],"embeddedStruct":{"name":"b"}}');
    expectBytes('{"embeddedStruct":{"name":"b"},"string":"s","embeddedText":"a","texts":[]}');
  });
});

describe('JSON that another program has written', () => {
  const unusual = [
    '{ "string":"a"}',
    '{"string":"a"} ',
    '{"string":"a","string":"b"}',
    '{"textsByKey":{"a":"1","a":"2"}}',
    String.raw`{"textsByKey":{"\u0061":"1"}}`,
    String.raw`{"\u0073tring":"a"}`,
    '{"string":1}',
    '{"int32":1.5}',
    '{"int32":2147483648}',
    '{"int64":9007199254740993}',
    '{"time":"yesterday"}',
    '{"texts":[null]}',
    '{"texts":"a"}',
    '{"requiredFlag":tru}',
    '{"string":"a"',
    '{"string":"a',
    '',
    'null',
    '[]',
  ];
  for (const json of unusual) {
    it(`is left to the parser: ${json}`, () => {
      assert.equal(jsonConverter(everything)(Buffer.from(json), 1, Buffer.alloc(1024), 0), undefined);
    });
  }

  it('is left to the parser when it has more fields than there is room for', () => {
    const textsByKey = Object.fromEntries(
      Array.from({ length: 6000 }, (_, index) => [`k${6000 - index}`, '']),
    );
    const json = Buffer.from(JSON.stringify({ textsByKey }));
    assert.equal(jsonConverter(everything)(json, 0, Buffer.alloc(200_000), 0), undefined);
  });
});

function expectBytes(json: string): void {
  expectSame(everything, json, 0);
}

/** The conversion has the bytes of the object, in a buffer of any size or in a larger one. */
function expectSame(root: StructType, json: string, revision: number, gen?: GeneratorValue): void {
  const convert = jsonConverter(root);
  const object: { metadata?: object } = JSON.parse(json);
  if (object.metadata !== undefined && revision > 0) {
    object.metadata = { ...object.metadata, resourceVersion: String(revision) };
  }
  const expected = encodeMessage(root, object);
  const from = gen?.(fc.nat, { max: 9 }) ?? 3;
  const into = Buffer.alloc(from + (gen?.(fc.nat, { max: expected.length + 20 }) ?? expected.length));
  const end = convert(Buffer.from(json), revision, into, from);
  if (end === undefined) {
    // the rules of a policy are in a message that is in another one, neither of which JSON has
    assert.match(
      json,
      /\\.(?:[^"\\]|\\.)*":|"(?:resourceRules|excludeResourceRules)":/su,
      'nothing else needs the parser',
    );
    return;
  }
  const fits = end <= into.length;
  const whole = fits ? into : Buffer.alloc(from + 8 * expected.length + 100);
  const wholeEnd = fits ? end : (convert(Buffer.from(json), revision, whole, from) ?? 0);
  assert.equal(whole.toString('hex', from, wholeEnd), Buffer.from(expected).toString('hex'));
}

/** The same value with the keys of all its objects in another order. */
function shuffled(value: unknown, gen: GeneratorValue): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, gen));
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  const order = gen(fc.shuffledSubarray, keys, { minLength: keys.length });
  return Object.fromEntries(order.map((key) => [key, shuffled(value[key], gen)]));
}
