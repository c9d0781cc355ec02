import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeMessage, encodeMessage, ProtobufError } from '../../../../../src/api/codec/protobuf/index.ts';
import { leaseKind } from '../../../../../src/api/kinds/index.ts';
import { field, required, string, struct } from '../../../../../src/api/schema/index.ts';
import { cpuMsOf } from '../../../../support/cpu-time.ts';
import { everything } from './everything.ts';

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const decode = (hex: string) => decodeMessage(everything, bytesOf(hex));
/** What is left when what the required fields imply is taken away. */
function decodeSet(hex: string): object {
  const { requiredFlag: _flag, requiredList: _list, requiredMap: _map, ...set } = decode(hex);
  return set;
}

describe('what a message without a field means', () => {
  it('is nothing for an optional field, and for a required one what the reference cannot tell from it', () => {
    assert.deepEqual(decode(''), { requiredFlag: false, requiredList: [], requiredMap: {} });
  });

  it('is a missing text where a text is required: validation speaks of it', () => {
    assert.equal('requiredText' in decode(''), false);
  });
});

describe('a zero on the wire', () => {
  it('is what a Go client writes for all that nobody set: it is dropped', () => {
    assert.deepEqual(decodeSet('0a00 1000 1800 2000 290000000000000000 3200'), {});
  });

  it('is a value where it stands for a pointer', () => {
    const set = { pointerText: '', pointerFlag: false, pointerNumber: 0 };
    assert.deepEqual(decodeSet('a20100 a80100 b00100'), set);
  });

  it('is a value where the field is required', () => {
    assert.equal(decode('ba0100')['requiredText'], '');
    assert.equal(decode('c00100')['requiredFlag'], false);
  });

  it('takes back a value that stands before it', () => {
    assert.deepEqual(decodeSet('0a0161 0a00'), {});
  });

  it('is an item of a list and a value of a map', () => {
    assert.deepEqual(decodeSet('f20100 f20100'), { texts: ['', ''] });
    assert.deepEqual(decodeSet('c202050a01611200'), { textsByKey: { a: '' } });
  });

  it('keeps an empty struct: emptyDir {} says something', () => {
    assert.deepEqual(decodeSet('da01021200'), { embeddedStruct: {} });
  });
});

describe('a lease as a Go client sends it', () => {
  it('holds only what is set, though all fields that are no pointers are written', () => {
    const name = '0a056c65617365';
    const unset = '1200 1a00 2200 2a00 3200 3800 4200';
    const metadata = `${name}${unset}`.replaceAll(' ', '');
    const length = (metadata.length / 2).toString(16).padStart(2, '0');

    const lease = decodeMessage(leaseKind.root, bytesOf(`0a${length}${metadata} 1204 0a00 2800`));

    assert.deepEqual(lease, {
      metadata: { name: 'lease' },
      spec: { holderIdentity: '', leaseTransitions: 0 },
    });
  });
});

describe('the rules of the wire', () => {
  it('let the last scalar count', () => {
    assert.deepEqual(decodeSet('0a0161 0a0162'), { string: 'b' });
  });

  it('merge messages that stand twice, and append lists', () => {
    const once = 'c23e030a0161';
    const again = 'c23e04 18 07 1001';
    assert.deepEqual(decode(`${once}${again}`)['nested'], {
      ...decode(''),
      string: 'a',
      int32: 7,
      bool: true,
    });
    assert.deepEqual(decodeSet('f2010161 f2010162'), { texts: ['a', 'b'] });
  });

  it('take numbers of a list one by one, packed, and mixed', () => {
    assert.deepEqual(decodeSet('f80101 fa0103020304 f80105'), { numbers: [1, 2, 3, 4, 5] });
    assert.deepEqual(decodeSet('8a0202 0001'), { flags: [false, true] });
    assert.deepEqual(decodeSet('92021000000000000000000000000000 00e03f'), { fractions: [0, 0.5] });
    assert.deepEqual(decodeSet('fa0100'), {});
  });

  it('skip what has an unknown number, groups too', () => {
    const unknown = [
      'd8a30101',
      'd9a3010000000000000000',
      'daa30101ff',
      'dda30100000000',
      'dba301 0801 dba301dca301 dca301',
    ];
    assert.deepEqual(decodeSet(`${unknown.join('')}0a0161${unknown.join('')}`), { string: 'a' });
  });

  it('let the last entry of a map count, take its parts in any order and supply those that are missing', () => {
    assert.deepEqual(decodeSet('c202060a0161120162 c202060a0161120163'), { textsByKey: { a: 'c' } });
    assert.deepEqual(decodeSet('c202061201620a0161'), { textsByKey: { a: 'b' } });
    assert.deepEqual(decodeSet('c20200'), { textsByKey: { '': '' } });
    assert.deepEqual(decodeSet('ca020712030001ff0a00'), { bytesByKey: { '': 'AAH/' } });
    assert.deepEqual(decodeSet('d202030a0161 da02030a0161 e202030a0161 ea02030a0161'), {
      flagsByKey: { a: false },
      quantitiesByKey: { a: '0' },
      listsByKey: { a: [] },
      structsByKey: { a: {} },
    });
  });

  it('give a key that JavaScript has its own use for like any other', () => {
    const { textsByKey } = decode('c2020e0a095f5f70726f746f5f5f120178');
    assert.deepEqual(JSON.stringify(textsByKey), '{"__proto__":"x"}');
  });

  it('put the fields of an embedded message beside those around it', () => {
    assert.deepEqual(decodeSet('da01030a0161 da0103 1a0162 da010512030a0163'), {
      embeddedText: 'a',
      embeddedStruct: { name: 'c' },
    });
  });
});

describe('bytes that are no message', () => {
  const cases: [string, string, string, RegExp][] = [
    ['a tag that is cut off', '80', '', /premature EOF/],
    ['field number 0', '0001', '', /illegal tag/],
    ['an unknown wire type', '0f', '', /illegal tag/],
    ['the end of a group that has no beginning', '0c', 'string', /wire type 4/],
    ['the end of an unknown group that has no beginning', 'dca301', '', /wire type 4/],
    ['a group that does not end', 'dba301', '', /premature EOF/],
    ['groups in groups without end', 'dba301'.repeat(40), '', /recursion/],
    ['an unknown number of more than ten bytes', `d8a301${'ff'.repeat(11)}01`, '', /invalid varint/],
    ['a length beyond the input', 'c23e05', 'nested', /5 bytes are announced/],
    ['a length of 2 GiB', 'c23effffffff07', 'nested', /2147483647 bytes are announced/],
    ['a text beyond its message', 'c23e020a0561626364', 'nested.string', /./],
    ['a packed list that is cut off', 'fa0102 01', 'numbers[0]', /announced/],
    ['a packed list whose last number is cut off', 'fa010180 01', 'numbers[1]', /beyond the end/],
    ['an item of another wire type', 'f20100 f00101', 'texts[1]', /wrong wire type/],
    ['an entry of a map that is none', 'c00201', 'textsByKey', /wrong wire type/],
    ['a value of a map that is none', 'ea02070a0161120212ff', 'structsByKey.a', /./],
    ['a list of a map with a bad item', 'e202080a0161120 30a01ff', 'listsByKey.a[0]', /invalid UTF-8/],
    ['a struct within a list', 'ca3e00 ca3e03 9a0201', 'nestedList[1].structs[0]', /1 bytes are announced/],
  ];
  for (const [what, hex, path, message] of cases) {
    it(`are refused with the path: ${what}`, () => {
      const refused = (error: unknown) => {
        assert.ok(error instanceof ProtobufError, String(error));
        assert.match(error.reason, message);
        assert.equal(error.path, path);
        return true;
      };
      assert.throws(() => decode(hex), refused);
    });
  }

  it('are refused when they nest deeper than a hundred messages', () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { nested: nested(depth - 1) });
    assert.doesNotThrow(() => decodeMessage(everything, encodeMessage(everything, nested(100))));
    assert.throws(
      () => decodeMessage(everything, encodeMessage(everything, nested(101))),
      /nested deeper than 100/,
    );
  });
});

describe('a large body of the worst sort', () => {
  const size = 1 << 20;
  const repeated = (hex: string) => decodeMessage(everything, bytesOf(hex.repeat(size / (hex.length / 2))));

  for (const [what, hex] of [
    ['empty items', 'f20100'],
    ['empty structs', '9a0200'],
    ['empty entries of a map', 'c20200'],
    ['one struct over and over', 'c23e00'],
    ['unknown groups', 'dba301dca301'],
    ['unknown numbers', 'd8a30101'],
  ] as const) {
    it(`is read in less than two seconds: ${what}`, () => {
      assert.ok(cpuMsOf(() => repeated(hex)) < 2000);
    });
  }
});

describe('a description that cannot be a message', () => {
  it('is a defect that shows at once', () => {
    const twice = struct('Twice', { one: field(1, string, ''), other: required(1, string, '') });
    assert.throws(() => decodeMessage(twice, new Uint8Array()), /Twice has two fields of the number 1/);
  });
});
