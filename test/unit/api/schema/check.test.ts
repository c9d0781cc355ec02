import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { StructType, Type } from '../../../../src/api/schema/index.ts';
import {
  complaintsLimit,
  field,
  int32,
  list,
  map,
  nameOf,
  raw,
  required,
  string,
  struct,
  wrongLimit,
} from '../../../../src/api/schema/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';
import { walk } from './walk.ts';

const port = struct('Port', { name: field(1, string, 'Name.'), number: required(2, int32, 'Number.') });
const tree: StructType = struct('Tree', {
  name: field(1, string, 'Name.'),
  child: field(2, { t: 'ref', name: 'Tree', resolve: () => tree } satisfies Type, 'Below.'),
});
const thing = struct('Thing', {
  ports: field(1, list(port), 'Ports.'),
  byName: field(2, map(port), 'Ports by name.'),
  labels: field(3, map(string), 'Labels.'),
  names: field(4, list(string), 'Names.'),
  tree: field(5, tree, 'Tree.'),
  any: field(6, raw, 'Any.'),
});

describe('unknown fields', () => {
  test('are taken out and named with their path, in lists, maps and structs within', () => {
    const found = walk(thing, {
      extra: { deep: [1] },
      ports: [{ number: 1 }, { number: 2, colour: 'red' }],
      byName: { 'a.b/c': { number: 3, size: 4 } },
      tree: { child: { child: { fruit: 1 } } },
    });
    assert.deepEqual(found.unknown, [
      'extra',
      'ports[1].colour',
      'byName.a.b/c.size',
      'tree.child.child.fruit',
    ]);
    assert.deepEqual(found.kept, {
      ports: [{ number: 1 }, { number: 2 }],
      byName: { 'a.b/c': { number: 3 } },
      tree: { child: { child: {} } },
    });
    assert.deepEqual(found.wrong, []);
  });

  test('are not known because every object in the language has them', () => {
    const text =
      '{"__proto__":{"polluted":1},"constructor":1,"toString":2,"hasOwnProperty":3,"ports":[{"__proto__":1}]}';
    const { unknown, kept } = walk(thing, JSON.parse(text));
    assert.deepEqual(unknown, [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'ports[0].__proto__',
    ]);
    assert.equal(JSON.stringify(kept), '{"ports":[{}]}');
    assert.equal(Object.getPrototypeOf(kept), Object.prototype);
    assert.ok(!('polluted' in {}));
  });

  test('a map keeps such keys as they are', () => {
    const { kept, wrong } = walk(thing, JSON.parse('{"labels":{"__proto__":"x","constructor":"y"}}'));
    assert.deepEqual(wrong, []);
    assert.equal(JSON.stringify(kept), '{"labels":{"__proto__":"x","constructor":"y"}}');
  });

  test('a map checks the values of such keys', () => {
    const { wrong } = walk(thing, JSON.parse('{"labels":{"__proto__":{"a":1}}}'));
    assert.deepEqual(wrong, [{ path: 'labels.__proto__', message: 'expected a string, found an object' }]);
  });

  test('in what may be anything there are none', () => {
    assert.deepEqual(walk(thing, { any: { what: [{ ever: null }] } }), {
      kept: { any: { what: [{ ever: null }] } },
      unknown: [],
      wrong: [],
    });
  });
});

describe('null', () => {
  test('means absent for a field, known or not', () => {
    const found = walk(thing, { ports: null, tree: { name: null }, extra: null });
    assert.deepEqual(found, { kept: { tree: {} }, unknown: ['extra'], wrong: [] });
  });

  test('in a list or map reads as an empty one', () => {
    const found = walk(thing, { labels: { a: null }, names: [null], ports: [null], byName: { x: null } });
    assert.deepEqual(found.kept, { labels: { a: '' }, names: [''], ports: [{}], byName: { x: {} } });
    assert.deepEqual(found.wrong, []);
  });

  test('as an entry in a list is read as an empty one', () => {
    const found = walk(thing, { names: [null, 'a'], ports: [null, null] });
    assert.deepEqual(found, { kept: { names: ['', 'a'], ports: [{}, {}] }, unknown: [], wrong: [] });
    assert.notEqual(Object(found.kept)['ports'][0], Object(found.kept)['ports'][1]);
  });
});

describe('wrong types', () => {
  test('are all told, each with its path, what was expected and what was found', () => {
    const { wrong } = walk(thing, {
      ports: [{ number: 'x' }, 5, { name: 7 }],
      byName: [],
      labels: 'none',
      names: { 0: 'a' },
      tree: [],
    });
    assert.deepEqual(
      wrong.map(({ path, message }) => `${path}: ${message}`),
      [
        'ports[0].number: expected a 32-bit integer, found string "x"',
        'ports[1]: expected an object, found number 5',
        'ports[2].name: expected a string, found number 7',
        'byName: expected a map, found a list',
        'labels: expected a map, found string "none"',
        'names: expected a list, found an object',
        'tree: expected an object, found a list',
      ],
    );
  });

  test('of the whole have no path', () => {
    assert.deepEqual(walk(thing, 'text').wrong, [
      { path: '', message: 'expected an object, found string "text"' },
    ]);
  });
});

describe('bounds', () => {
  test('no more is told than the limit, however much is wrong', () => {
    const many = Array.from({ length: 5000 }, () => ({ number: 'x', colour: 1 }));
    const { wrong, unknown } = walk(thing, { ports: many });
    assert.equal(wrong.length, wrongLimit);
    assert.equal(unknown.length, complaintsLimit + 1, 'one more, so that it can be said');
  });

  test('what is told does not grow with what was sent', () => {
    const key = 'k'.repeat(1_000_000);
    const { wrong, unknown } = walk(thing, {
      [key]: 1,
      labels: { [key]: 5 },
      names: [{}],
      tree: { name: [key] },
    });
    for (const text of [...unknown, ...wrong.map(({ path, message }) => path + message)]) {
      assert.ok(text.length < 500);
    }
    assert.ok(nameOf(key).length < 80);
  });

  test('a body of unknown fields alone takes time in proportion to its size', () => {
    const timed = (count: number): number => {
      const value = Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, index]));
      return cpuMsOf(() => walk(thing, value));
    };
    timed(20_000);
    assert.ok(timed(200_000) < 2000);
  });

  test('deep nesting of a type within itself is walked to its end', () => {
    let value: object = { fruit: 1 };
    for (let depth = 0; depth < 250; depth++) value = { child: value };
    const { unknown } = walk(thing, { tree: value });
    assert.equal(unknown.length, 1);
    assert.match(unknown[0] ?? '', /^…\w*(\.child){160,}\.fruit$/);
  });
});

test('what is kept has only known fields of the right types, or something was wrong', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const first = walk(thing, { any: value, tree: value, labels: value, ports: [value] });
      if (first.wrong.length > 0) return;
      const again = walk(thing, structuredClone(first.kept));
      assert.deepEqual(again, { kept: first.kept, unknown: [], wrong: [] });
    }),
    { numRuns: 500 },
  );
});
