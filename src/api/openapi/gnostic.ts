import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { isRecord } from '../schema/index.ts';

/*
 * A Swagger 2.0 document as the protobuf message `openapi.v2.Document` of gnostic (openapiv2/OpenAPIv2.proto), the only
 * form that older clients request. Each message is described by the JSON object that it encodes: a field's name in JSON,
 * its number and the function that writes it. A map of JSON is a list of named values in protobuf; a choice is a message
 * around a message; free values and `x-` extensions are YAML text, for which JSON is valid.
 */

type Write = (writer: BinaryWriter, number: number, value: unknown) => void;

/** A document has a value that its description does not allow: a defect of this folder. */
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

/** A message whose content `fill` writes. */
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

/** A message with one field, of number `inner`. */
function around(inner: number, write: Write): Write {
  return within((writer, value) => write(writer, inner, value));
}

/** Each entry of a map as a message {1: name, 2: value}. */
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

/** A message with the fields of a JSON object; `extensions` is the field number of names that begin with `x-`. */
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

/** ParametersItem around Parameter around the message for its place: body, query or path. */
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

/** Encodes a Swagger 2.0 document that `swagger2Document` has created. */
export function encodeSwagger2(value: object): Uint8Array {
  const writer = new BinaryWriter();
  for (const [name, inner] of Object.entries(value)) {
    const [number, write] = document[name] ?? [];
    if (number === undefined || write === undefined) throw new ShapeError(`${name} has no field`);
    write(writer, number, inner);
  }
  return writer.finish();
}
