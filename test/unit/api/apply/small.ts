import type { ApiObject } from '../../../../src/api/index.ts';
import { objectStruct } from '../../../../src/api/index.ts';
import type { StructType, Type } from '../../../../src/api/schema/index.ts';
import { field, int32, list, map, required, string, struct } from '../../../../src/api/schema/index.ts';

/* A description with everything that ownership treats in a way of its own. */

const tree: Extract<Type, { t: 'ref' }> = { t: 'ref', name: 'Tree', resolve: (): StructType => treeStruct };

const treeStruct = struct('Tree', {
  text: field(1, string, 'A scalar.'),
  below: field(2, tree, 'The same again.'),
});

const port = struct('Port', {
  number: required(1, int32, 'First key.'),
  protocol: field(2, string, 'Second key.', { default: 'TCP' }),
  text: field(3, string, 'A scalar.'),
});

const item = struct('Item', {
  name: required(1, string, 'The key.'),
  text: field(2, string, 'A scalar.'),
  ports: field(3, list(port, { list: 'map', keys: ['number', 'protocol'] }), 'A list of two keys.'),
  labels: field(4, map(string), 'A map.'),
  whole: field(5, list(string), 'A list as a whole.'),
});

const spec = struct('Spec', {
  text: field(1, string, 'A scalar.'),
  count: field(2, int32, 'A scalar whose zero says something.', { pointer: true }),
  set: field(3, list(string, { list: 'set' }), 'A set.'),
  items: field(4, list(item, { list: 'map', keys: ['name'] }), 'A list of one key.'),
  labels: field(5, map(string), 'A map.'),
  wholeList: field(6, list(string), 'A list as a whole.'),
  wholeMap: field(7, map(string, { atomic: true }), 'A map as a whole.'),
  wholeStruct: field(
    8,
    struct('Whole', { a: field(1, string, ''), b: field(2, string, '') }, { atomic: true }),
    'A struct as a whole.',
  ),
  tree: field(9, tree, 'A struct that holds itself.'),
});

export const small: StructType = objectStruct('Small', {
  spec: field(2, spec, 'All of it.', { default: {} }),
});

export interface Small extends ApiObject {
  spec?: Record<string, unknown>;
}

/** An object of the small description. */
export function smallObject(content: Record<string, unknown> = {}): Small {
  return { apiVersion: 'v1', kind: 'Small', metadata: { name: 'x' }, spec: content };
}
