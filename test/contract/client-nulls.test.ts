/** What a server in Go writes for an empty list of any kind is read as one by the client, and so by the agent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { putDriver, removeDrivers, setOwner } from '../../src/agent/plugins/csi/csi-node-object.ts';
import type { ApiObject, Kind } from '../../src/api/index.ts';
import { csiNodeKind, servedKinds } from '../../src/api/index.ts';
import type { Field, StructType, Type } from '../../src/api/schema/index.ts';
import { ResponseParser } from '../../src/client/responses.ts';

const maxDepth = 9;

/** A value of the type in which every list, map and scalar is null, or, with `items`, has one item whose own fields are. */
function sample(type: Type, items: boolean, depth = 0): unknown {
  if (type.t === 'struct') return sampleStruct(type, items, depth);
  if (type.t === 'ref') return sample(type.resolve(), items, depth);
  if (!items || depth > maxDepth) return null;
  if (type.t === 'list') return [sample(type.of, items, depth + 1)].filter((item) => item !== null);
  if (type.t === 'map') return { key: sample(type.of, items, depth + 1) ?? 'value' };
  return null;
}

function sampleStruct({ fields }: StructType, items: boolean, depth: number): unknown {
  if (depth > maxDepth) return null;
  const entries = Object.entries(fields).map(([name, field]) => [name, sample(field.type, items, depth + 1)]);
  return Object.fromEntries(entries);
}

/** Fails for a null, and for a required list or map that is missing. */
function checkNone(type: Type, value: unknown, path: string): void {
  assert.notEqual(value, null, path);
  if (type.t === 'ref') checkNone(type.resolve(), value, path);
  else if (type.t === 'list' && Array.isArray(value))
    for (const [index, item] of value.entries()) checkNone(type.of, item, `${path}[${index}]`);
  else if (type.t === 'map')
    for (const item of Object.values(Object(value))) checkNone(type.of, item, `${path}.*`);
  else if (type.t === 'struct')
    for (const [name, field] of Object.entries(type.fields))
      checkField(field, Object(value)[name], `${path}.${name}`);
}

function checkField({ type, required }: Field, value: unknown, path: string): void {
  const isContainer = type.t === 'list' || type.t === 'map' || type.t === 'struct';
  if (value !== undefined) checkNone(type, value, path);
  else assert.ok(!required || !isContainer, `${path} is promised and missing`);
}

function textOf(kind: Kind, items: boolean): Record<string, unknown> {
  const object = Object(sample(kind.root, items));
  return { ...object, kind: kind.kind, apiVersion: 'v1', newer: { list: null } };
}

describe('null for an empty list is read everywhere', () => {
  for (const kind of servedKinds)
    test(`null for every list of a ${kind.kind}`, () => {
      const parser = new ResponseParser<ApiObject>('https://server', kind, 'k8s.io');
      for (const items of [false, true]) {
        const sent = textOf(kind, items);
        const one = parser.parseObject(JSON.stringify(sent));
        const event = parser.parseEvent(JSON.stringify({ type: 'MODIFIED', object: sent })).object;
        const list = { kind: `${kind.kind}List`, metadata: null, items: [sent] };
        const [listed] = parser.parseList(JSON.stringify(list)).items;
        for (const read of [one, event, listed]) {
          checkNone(kind.root, { apiVersion: 'v1', ...read }, kind.kind);
          assert.deepEqual(Object(read)['newer'], { list: null }, 'an unknown field stays');
        }
      }
      assert.deepEqual(parser.parseList(`{"kind":"${kind.kind}List","metadata":{},"items":null}`).items, []);
    });

  test('CSINode spec.drivers: null', () => {
    const parser = new ResponseParser('https://server', csiNodeKind, 'k8s.io');
    const stored = parser.parseObject(
      '{"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"n"},"spec":{"drivers":null}}',
    );
    const place = { endpoint: '', socket: '', version: '1.0.0' };
    const driver = { name: 'd.example', nodeId: 'n1', topology: {}, maxVolumes: undefined, ...place };
    const written = putDriver(stored, driver);
    assert.deepEqual(written?.spec.drivers, [{ name: 'd.example', nodeID: 'n1', topologyKeys: [] }]);
    assert.equal(removeDrivers(stored, new Set(['d.example'])), undefined);
    assert.equal(setOwner(stored, { name: 'n', uid: 'u' })?.metadata?.ownerReferences?.length, 1);
  });
});
