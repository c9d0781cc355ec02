import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { isRecord } from '../schema/index.ts';

/*
 * A Swagger 2.0 document as the protobuf message `openapi.v2.Document` of gnostic (openapiv2/OpenAPIv2.proto), the only
 * form in which older clients ask for it. The messages are described by what they make of a JSON value: each entry
 * is the name in JSON, with the field's number and how it is written. What JSON knows as a map is a list of named
 * values there; a choice is a message around a message; everything free, and every `x-` extension, is YAML text,
 * for which JSON will do.
 */

type Write = (writer: BinaryWriter, number: number, value: unknown) => void;

/** Thrown when a document holds what its description does not; a defect of this folder. */
class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

const text: Write = (writer, number, value) => {
  if (typeof value !== 'string') throw new ShapeError(`${JSON.stringify(value)} is not text`);
  writer.tag(number, WireType.LengthDelimited).string(value);
};

const bool: Write = (writer, number, value) => {
  writer.tag(number, WireType.Varint).bool(value === true);
};

/** gnostic's `Any`: its field 2 is YAML. */
const free = within((writer, value) => text(writer, 2, JSON.stringify(value)));

/** A message that `fill` writes. */
function within(fill: (writer: BinaryWriter, value: unknown) => void): Write {
  return (writer, number, value) => {
    writer.tag(number, WireType.LengthDelimited).fork();
    fill(writer, value);
    writer.join();
  };
}

function each(write: Write): Write {
  return (writer, number, value) => {
    if (!Array.isArray(value)) throw new ShapeError(`${JSON.stringify(value)} is not a list`);
    for (const item of value) write(writer, number, item);
  };
}

/** A message with one field, around what it holds. */
function around(inner: number, write: Write): Write {
  return within((writer, value) => write(writer, inner, value));
}

/** Each entry of a map as a message of its name (1) and its value (2). */
function named(write: Write): Write {
  return (writer, number, value) => {
    for (const [name, inner] of entriesOf(value)) {
      writer.tag(number, WireType.LengthDelimited).fork();
      text(writer, 1, name);
      write(writer, 2, inner);
      writer.join();
    }
  };
}

type Shape = Readonly<Record<string, readonly [number, Write]>>;

/** A message with the fields of a JSON object; `extensions` is the number of what begins with `x-`. */
function message(shape: () => Shape, extensions: number): Write {
  return within((writer, value) => {
    const fields = shape();
    for (const [name, inner] of entriesOf(value)) {
      if (name.startsWith('x-')) {
        named(free)(writer, extensions, { [name]: inner });
        continue;
      }
      const [number, write] = fields[name] ?? [];
      if (number === undefined || write === undefined) throw new ShapeError(`${name} has no field`);
      write(writer, number, inner);
    }
  });
}

function entriesOf(value: unknown): [string, unknown][] {
  if (!isRecord(value)) throw new ShapeError(`${JSON.stringify(value)} is not an object`);
  return Object.entries(value);
}

const schema: Write = message(() => schemaFields, 31);

const schemaFields: Shape = {
  $ref: [1, text],
  format: [2, text],
  description: [4, text],
  default: [5, free],
  uniqueItems: [16, bool],
  required: [19, each(text)],
  additionalProperties: [21, around(1, schema)],
  type: [22, around(1, text)],
  items: [23, around(1, schema)],
  properties: [25, around(1, named(schema))],
};

const body = message(
  () => ({
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, bool],
    schema: [5, schema],
  }),
  6,
);

const query = message(
  () => ({
    required: [1, bool],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, bool],
  }),
  23,
);

const path = message(
  () => ({
    required: [1, bool],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, bool],
  }),
  22,
);

/** ParametersItem around Parameter around the sort of parameter that it is. */
const parameter: Write = (writer, number, value) => {
  const place = isRecord(value) ? value['in'] : undefined;
  if (place === 'body') around(1, around(1, body))(writer, number, value);
  else if (place === 'query') around(1, around(2, around(3, query)))(writer, number, value);
  else around(1, around(2, around(4, path)))(writer, number, value);
};

const response = message(() => ({ description: [1, text], schema: [2, around(1, schema)] }), 5);

const operation = message(
  () => ({
    tags: [1, each(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, each(text)],
    consumes: [7, each(text)],
    parameters: [8, each(parameter)],
    responses: [9, around(1, named(around(1, response)))],
  }),
  13,
);

const pathItem = message(
  () => ({
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, each(parameter)],
  }),
  10,
);

const document: Shape = {
  swagger: [1, text],
  info: [2, message(() => ({ title: [1, text], version: [2, text] }), 7)],
  paths: [8, around(2, named(pathItem))],
  definitions: [9, around(1, named(schema))],
};

/** The bytes of a Swagger 2.0 document of this folder's making. */
export function encodeSwagger2(value: object): Uint8Array {
  const writer = new BinaryWriter();
  for (const [name, inner] of Object.entries(value)) {
    const [number, write] = document[name] ?? [];
    if (number === undefined || write === undefined) throw new ShapeError(`${name} has no field`);
    write(writer, number, inner);
  }
  return writer.finish();
}
