import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeMessage, encodeMessage, ProtobufError } from '../../../../../src/api/codec/protobuf/index.ts';
import { everything } from './everything.ts';

const encode = (value: unknown) => Buffer.from(encodeMessage(everything, value)).toString('hex');

describe('a message', () => {
  it('has its fields in the order of their numbers, whatever the order of the object', () => {
    assert.equal(encode({ texts: ['b', 'a'], int32: 1, string: 's' }), '0a01731801f2010162f2010161');
  });

  it('has nothing for what is absent or null, and for what stands in the envelope', () => {
    assert.equal(encode({ kind: 'Everything', string: null, int32: undefined }), '');
  });

  it('has the entries of a map in the order of their keys in UTF-8', () => {
    const textsByKey = { b: '', a: '', '\u{1F600}': '', '\uFF5E': '' };

    const decoded = decodeMessage(everything, encodeMessage(everything, { textsByKey }));

    assert.deepEqual(Object.keys(decoded['textsByKey'] ?? {}), ['a', 'b', '\uFF5E', '\u{1F600}']);
  });

  it('has a list in a message where it is the value of a map', () => {
    assert.equal(encode({ listsByKey: { k: ['a', ''] } }), 'e2020a0a016b12050a01610a00');
    assert.equal(encode({ listsByKey: { k: [] } }), 'e202050a016b1200');
  });

  it('has an embedded message when one of its fields is there', () => {
    assert.equal(encode({ embeddedText: 'a' }), 'da01030a0161');
    assert.equal(encode({ embeddedStruct: {} }), 'da01021200');
  });

  it('writes numbers of a list one by one, as the reference does', () => {
    assert.equal(encode({ numbers: [1, 0] }), 'f80101f80100');
  });

  it('leaves nothing behind for the next one, not even when it fails', () => {
    assert.throws(() => encode({ string: 'left behind', texts: [1] }));
    assert.equal(encode({ string: 'x'.repeat(100_000) }).length, 2 * (1 + 3 + 100_000));
    assert.equal(encode({ int32: 1 }), '1801');
  });

  const wrong: [unknown, string][] = [
    ['text', ''],
    [{ string: 1 }, 'string'],
    [{ nested: { texts: ['a', 1] } }, 'nested.texts[1]'],
    [{ nested: 'text' }, 'nested'],
    [{ texts: 'text' }, 'texts'],
    [{ textsByKey: [] }, 'textsByKey'],
    [{ listsByKey: { k: 'text' } }, 'listsByKey.k'],
    [{ embeddedStruct: { name: 1 } }, 'embeddedStruct.name'],
  ];
  for (const [value, path] of wrong) {
    it(`cannot be made of ${JSON.stringify(value)}: the error has the path`, () => {
      const refused = (error: unknown) => error instanceof ProtobufError && error.path === path;
      assert.throws(() => encode(value), refused);
    });
  }
});
