import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyJsonPatch, PatchError, unknownMembers } from '../../../../src/api/index.ts';
import type { Case } from './json-patch-cases.ts';
import { jsonPatchCases } from './json-patch-cases.ts';

function run({ document, patch, result }: Case): void {
  const before = structuredClone({ document, patch });
  if ('is' in result) {
    assert.deepEqual(applyJsonPatch(document, patch), result.is);
  } else {
    const [reason, message] =
      'fails' in result ? (['failed', result.fails] as const) : (['malformed', result.malformed] as const);
    assert.throws(() => applyJsonPatch(document, patch), { name: 'PatchError', reason, message });
  }
  assert.deepEqual({ document, patch }, before, 'what was given is as it was');
}

for (const [group, cases] of Object.entries(jsonPatchCases)) {
  describe(`JSON Patch: ${group}`, () => {
    for (const one of cases) test(one.about, () => run(one));
  });
}

function refusal(document: unknown, patch: unknown): PatchError {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    assert.ok(error instanceof PatchError);
    return error;
  }
  assert.fail('it was applied');
}

describe('JSON Patch: what is told of a failure', () => {
  test('which operation, which place, what is wrong', () => {
    const patch = [
      { op: 'add', path: '/spec', value: {} },
      { op: 'test', path: '/spec/x', value: 'secret' },
    ];
    const { message } = refusal({ spec: { x: 'hidden' } }, patch);
    assert.equal(message, 'operation 1 (test /spec/x): the value there is another one');
    assert.equal(refusal({}, 'add').message, 'a JSON Patch is a list of operations, not a string');
    assert.equal(refusal({}, ['add']).message, 'operation 0: it must be an object, not a string');
  });

  test('never a value, of the document or of the patch', () => {
    const secret = 'hunter2';
    for (const patch of [
      [{ op: 'test', path: '/data/a', value: secret }],
      [{ op: 'add', path: '/data/a/b', value: secret }],
      [{ op: 'add', path: '/list/x', value: secret }],
      [{ op: secret, path: '/list/x' }],
      secret,
      [secret],
    ]) {
      const { message } = refusal({ data: { a: `${secret}!` }, list: [secret] }, patch);
      assert.doesNotMatch(message, /hunter2/);
    }
  });

  test('long paths only in part', () => {
    const path = '/x'.repeat(100_000);
    for (const patch of [
      [{ op: 'remove', path }],
      [{ op: 'remove', path: path.slice(1) }],
      [{ op: 'move', from: path, path: '/a' }],
      [{ op: 'add', path: `/list/${path.slice(1)}`, value: 1 }],
      [{ op: 'add', path: `/list/0${'/0'.repeat(1000)}`, value: 1 }],
    ]) {
      assert.ok(refusal({ list: [0] }, patch).message.length < 1100);
    }
  });
});

describe('JSON Patch: what it may cost', () => {
  const many = (count: number, operation: object) => Array.from({ length: count }, () => operation);

  test('ten thousand operations, and not one more', () => {
    const operation = { op: 'add', path: '/list/-', value: 1 };
    const grown = applyJsonPatch({ list: [] }, many(10_000, operation));
    assert.deepEqual(grown, { list: Array.from({ length: 10_000 }, () => 1) });
    const { reason, message } = refusal({ list: [] }, many(10_001, operation));
    assert.equal(reason, 'tooLarge');
    assert.equal(message, 'The allowed maximum operations in a JSON patch is 10000, got 10001');
  });

  test('copies that double are stopped', () => {
    const bomb = many(10_000, { op: 'copy', from: '/list', path: '/list/-' });
    const { reason, message } = refusal({ list: ['a'] }, bomb);
    assert.equal(reason, 'tooLarge');
    assert.match(message, /^operation \d\d \(copy \/list\/-\): copies add more than 3145728 bytes$/);
  });

  test('many copies of something large are stopped', () => {
    const patch = Array.from({ length: 40 }, (_, at) => ({ op: 'copy', from: '/big', path: `/copy${at}` }));
    assert.equal(refusal({ big: 'x'.repeat(100_000) }, patch).reason, 'tooLarge');
    applyJsonPatch({ big: 'x'.repeat(100_000) }, patch.slice(0, 31));
  });

  test('nothing nests deeper than a body may', () => {
    const deeper = many(100, { op: 'copy', from: '/a', path: '/a/a' });
    const copies = [...deeper, ...deeper, ...deeper];
    assert.match(refusal({ a: {} }, copies).message, /nested deeper than 256 levels/);
    const wrap = [
      { op: 'add', path: '/b', value: {} },
      { op: 'move', from: '/a', path: '/b/a' },
      { op: 'move', from: '/b', path: '/a' },
    ];
    const moves = Array.from({ length: 3000 }, () => wrap).flat();
    assert.match(refusal({ a: {} }, moves).message, /nested deeper than 256 levels/);
    let tower: unknown = 1;
    for (let level = 0; level < 200; level++) tower = [tower];
    const added = [
      { op: 'add', path: '/a', value: tower },
      { op: 'add', path: `/a${'/0'.repeat(199)}`, value: tower },
    ];
    assert.match(refusal({}, added).message, /^operation 1 .*nested deeper than 256 levels/);
  });

  test('long lists are not shifted for ever', () => {
    const list = Array.from({ length: 1_000_000 }, () => 0);
    for (const operation of [
      { op: 'add', path: '/list/0', value: 1 },
      { op: 'remove', path: '/list/0' },
    ]) {
      const { reason, message } = refusal({ list }, many(10_000, operation));
      assert.equal(reason, 'tooLarge');
      assert.match(message, /too much at the front of long lists/);
    }
  });
});

describe('JSON Patch: names that mean something to JavaScript', () => {
  const parse = (text: string): unknown => JSON.parse(text);

  test('are names like others', () => {
    const patched = applyJsonPatch(
      parse('{"a":{"__proto__":{"x":1}}}'),
      parse(
        '[{"op":"add","path":"/__proto__","value":{"polluted":1}},{"op":"add","path":"/a/__proto__/y","value":2},{"op":"copy","from":"/a","path":"/b"}]',
      ),
    );
    assert.equal(
      JSON.stringify(patched),
      '{"a":{"__proto__":{"x":1,"y":2}},"__proto__":{"polluted":1},"b":{"__proto__":{"x":1,"y":2}}}',
    );
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    assert.equal(
      JSON.stringify(applyJsonPatch(patched, [{ op: 'remove', path: '/__proto__' }])).includes('polluted'),
      false,
    );
  });

  test('and are not found where nobody put them', () => {
    for (const path of ['/__proto__', '/constructor', '/a/length', '/hasOwnProperty/x', '/list/length']) {
      assert.equal(refusal({ a: 'text', list: [] }, [{ op: 'remove', path }]).reason, 'failed', path);
    }
    assert.equal(Reflect.get({}, 'x'), undefined);
  });
});

test('members that no operation has are told', () => {
  const patch = [
    { op: 'add', path: '/a', vlaue: 1 },
    7,
    { op: 'remove', path: '/b', value: 1, 'odd one': 2 },
  ];
  assert.deepEqual(unknownMembers(patch), ['[0].vlaue', '[2].odd one']);
  assert.deepEqual(unknownMembers({ op: 'add' }), []);
});
