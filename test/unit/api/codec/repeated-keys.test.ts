import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readRepeated } from '../../../../src/api/codec/repeated-keys.ts';
import type { ApiObject, Kind } from '../../../../src/api/index.ts';
import { decodeObject, nodeKind, parseText, podKind } from '../../../../src/api/index.ts';
import { configMapKind } from '../../../../src/api/kinds/core/config-map.ts';

function read<T extends ApiObject>(kind: Kind<T>, text: string) {
  return decodeObject(kind, 'v1', { encoding: 'json', bytes: Buffer.from(text) });
}

describe('"data" twice in a body', () => {
  test('is both merged, and told for field validation', () => {
    const { object, complaints } = read(
      configMapKind,
      '{"data":{"a":"1","b":"2"},"metadata":{"name":"x"},"data":{"b":"3","c":"4"},"metadata":{"namespace":"n"}}',
    );
    assert.deepEqual(object.data, { a: '1', b: '3', c: '4' });
    assert.deepEqual(object.metadata, { name: 'x', namespace: 'n' });
    assert.deepEqual(complaints, ['duplicate field "data"', 'duplicate field "metadata"']);
  });

  test('counts as the last one in a patch, which is no object of a type', () => {
    const body = { encoding: 'json' as const, bytes: Buffer.from('{"data":{"a":"1"},"data":{"b":"2"}}') };
    assert.deepEqual(parseText(body).value, { data: { b: '2' } });
  });
});

describe('a key that stands twice in its object', () => {
  test('is read into what the first has left, where it is a struct', () => {
    const { object } = read(nodeKind, '{"spec":{"unschedulable":true},"spec":{"providerID":"x://1"}}');
    assert.deepEqual(object.spec, { unschedulable: true, providerID: 'x://1' });
  });

  test('has the last list, read item by item into the one before', () => {
    const { object } = read(
      podKind,
      '{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}],"containers":[{"name":"c"}]}}',
    );
    assert.deepEqual(object.spec?.containers, [{ name: 'c', image: 'x' }]);
  });

  test('replaces scalars, and whole members of maps', () => {
    const { object } = read(podKind, '{"spec":{"nodeName":"a","containers":[],"nodeName":"b"}}');
    assert.equal(object.spec?.nodeName, 'b');
    const capacity = '{"status":{"capacity":{"cpu":"1","cpu":"2"}}}';
    assert.deepEqual(read(nodeKind, capacity).object.status?.capacity, { cpu: '2' });
  });

  test('leaves what Go cannot set to null, and empties the rest', () => {
    const text =
      '{"spec":{"providerID":"x","taints":[],"configSource":{}},"spec":null,"metadata":{"labels":{"a":"b"},"labels":null}}';
    const { object } = read(nodeKind, text);
    assert.deepEqual(object.spec, { providerID: 'x', configSource: {} });
    assert.equal(object.metadata, undefined);
    assert.deepEqual(read(nodeKind, '{"spec":{"providerID":"x","providerID":null}}').object.spec, {
      providerID: 'x',
    });
  });

  test('with blanks, escapes and unknown fields about', () => {
    const text =
      ' { "spec" : { "x" : [ { "a" : "}]\\"" } , -1.5e+3 , true ] , "providerID" : "\\u0061" } ,\n"spec":{}, "\\u0073pec": {"unschedulable" : true} } ';
    const { object, complaints } = read(nodeKind, text);
    assert.deepEqual(object.spec, { providerID: 'a', unschedulable: true });
    assert.deepEqual(complaints, ['unknown field "spec.x"', 'duplicate field "spec"']);
    const evil = '{"__proto__":{"kind":"x"},"data":{"__proto__":"a"},"data":{"b":"c"}}';
    assert.equal(JSON.stringify(read(configMapKind, evil).object.data), '{"__proto__":"a","b":"c"}');
  });
});

test('without one, a text is read as by the parser', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const parsed: unknown = JSON.parse(text);
      if (JSON.stringify(parsed) !== text || text.includes('\\\\')) return;
      assert.deepEqual(readRepeated(podKind.root, text), parsed);
    }),
  );
});
