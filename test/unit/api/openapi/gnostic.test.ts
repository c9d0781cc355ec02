import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { encodeSwagger2, swagger2Document } from '../../../../src/api/openapi/index.ts';
import { served, swagger2Of } from './document-parts.ts';

/*
 * Reads the message by the numbers of OpenAPIv2.proto of gnostic and makes of it the JSON that it stands for, as
 * clients do. Nothing here is shared with the writer.
 */

type Json = Record<string, unknown>;
/** How one field of a message is taken into the object that is made of it. */
type Take = (into: Json, reader: BinaryReader) => void;
/** The fields of a message by number; a function, because messages hold themselves. */
type Message = () => Readonly<Record<number, Take>>;

function read(reader: BinaryReader, length: number, message: Message): Json {
  const into: Json = {};
  const end = reader.pos + length;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const take = message()[number];
    assert.ok(take, `a message has no field ${number}`);
    assert.ok([WireType.Varint, WireType.LengthDelimited].includes(wireType));
    take(into, reader);
  }
  assert.equal(reader.pos, end);
  return into;
}

const nested = (reader: BinaryReader, message: Message): Json => read(reader, reader.uint32(), message);

const text =
  (name: string): Take =>
  (into, reader) => {
    into[name] = reader.string();
  };
const bool =
  (name: string): Take =>
  (into, reader) => {
    into[name] = reader.bool();
  };
const texts =
  (name: string): Take =>
  (into, reader) => {
    into[name] = [...(Array.isArray(into[name]) ? into[name] : []), reader.string()];
  };
/** A message whose field `only` is all that JSON shows of it. */
const only =
  (name: string, message: Message): Take =>
  (into, reader) => {
    Object.assign(into, { [name]: nested(reader, message)['only'] });
  };
const whole =
  (name: string, message: Message): Take =>
  (into, reader) => {
    into[name] = nested(reader, message);
  };
const push =
  (name: string, message: Message): Take =>
  (into, reader) => {
    const item = nested(reader, message);
    into[name] = [...(Array.isArray(into[name]) ? into[name] : []), 'only' in item ? item['only'] : item];
  };
/** One named value among others: name = 1, value = 2. */
const entry =
  (take: (name: string) => Take): Take =>
  (into, reader) => {
    const { name, value } = nested(reader, () => ({
      1: text('name'),
      2: (pair, inner) => {
        const held: Json = {};
        take('it')(held, inner);
        pair['value'] = held['it'];
      },
    }));
    into[String(name)] = value;
  };
const yaml: Message = () => ({
  2: (into, reader) => {
    into['only'] = JSON.parse(reader.string());
  },
});
const extension = entry((name) => only(name, yaml));
const same =
  (message: Message): Message =>
  () => ({ 1: whole('only', message) });

const schema: Message = () => ({
  1: text('$ref'),
  2: text('format'),
  4: text('description'),
  19: texts('required'),
  21: only('additionalProperties', same(schema)),
  22: only('type', () => ({ 1: text('only') })),
  23: only('items', same(schema)),
  25: whole('properties', () => ({ 1: entry((name) => whole(name, schema)) })),
  31: extension,
});
const body: Message = () => ({
  2: text('name'),
  3: text('in'),
  4: bool('required'),
  5: whole('schema', schema),
});
const query: Message = () => ({
  2: text('in'),
  3: text('description'),
  4: text('name'),
  6: text('type'),
  20: bool('uniqueItems'),
});
const path: Message = () => ({
  1: bool('required'),
  2: text('in'),
  3: text('description'),
  4: text('name'),
  5: text('type'),
  19: bool('uniqueItems'),
});
const nonBody: Message = () => ({ 3: whole('only', query), 4: whole('only', path) });
const parameter: Message = () => ({ 1: whole('only', body), 2: only('only', nonBody) });
const parameterItem: Message = () => ({ 1: only('only', parameter) });
const response: Message = () => ({ 1: text('description'), 2: only('schema', same(schema)) });
const operation: Message = () => ({
  1: texts('tags'),
  3: text('description'),
  5: text('operationId'),
  6: texts('produces'),
  7: texts('consumes'),
  8: push('parameters', parameterItem),
  9: whole('responses', () => ({ 1: entry((name) => only(name, same(response))) })),
  13: extension,
});
const pathItem: Message = () => ({
  2: whole('get', operation),
  3: whole('put', operation),
  4: whole('post', operation),
  5: whole('delete', operation),
  6: whole('options', operation),
  7: whole('head', operation),
  8: whole('patch', operation),
  9: push('parameters', parameterItem),
});
const document: Message = () => ({
  1: text('swagger'),
  2: whole('info', () => ({ 1: text('title'), 2: text('version') })),
  8: whole('paths', () => ({ 2: entry((name) => whole(name, pathItem)) })),
  9: whole('definitions', () => ({ 1: entry((name) => whole(name, schema)) })),
});

describe('the protobuf form of the Swagger 2.0 document', () => {
  test('says the same as the JSON, read by the published numbers', () => {
    const bytes = encodeSwagger2(swagger2Document(served));
    assert.deepEqual(read(new BinaryReader(bytes), bytes.length, document), swagger2Of());
  });

  test('writes what is free as YAML', () => {
    const bytes = encodeSwagger2({ definitions: { A: { 'x-kubernetes-list-map-keys': ['a', 'b'] } } });
    assert.match(Buffer.from(bytes).toString('latin1'), /x-kubernetes-list-map-keys.*\["a","b"\]/s);
  });

  test('refuses what it has no field for, rather than to leave it out', () => {
    assert.throws(() => encodeSwagger2({ definitions: { A: { maximum: 3 } } }), /maximum/);
    assert.throws(() => encodeSwagger2({ host: 'x' }), /host/);
    assert.throws(() => encodeSwagger2({ swagger: 2 }), /2 is not text/);
  });
});
