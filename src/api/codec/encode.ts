import type { ApiObject, ListMeta, ObjectType } from '../kinds/index.ts';
import type { Encoding } from './encoding.ts';
import { encodeEnvelope, encodeList, encodeMessage } from './protobuf/index.ts';
import { writeYaml } from './yaml/index.ts';

/** The type gives the layout of the fields; kind and apiVersion are in the object. */
type Shape = Pick<ObjectType, 'root'>;
/** An object, or a Status, whose metadata is that of a list. */
type Typed = Pick<ApiObject, 'apiVersion' | 'kind'>;

/** Encodes an object as the body of an answer. */
export function encodeObject(type: Shape, object: Typed, encoding: Encoding): Buffer {
  if (encoding !== 'protobuf') return encodeText(object, encoding);
  const { apiVersion = '', kind = '' } = object;
  return bufferOf(encodeEnvelope({ apiVersion, kind }, encodeMessage(type.root, object)));
}

/** Encodes a value that has no protobuf form, such as a table. */
export function encodeText(value: object, encoding: Exclude<Encoding, 'protobuf'>): Buffer {
  return Buffer.from(encoding === 'json' ? JSON.stringify(value) : writeYaml(value));
}

/** Encodes an item for `encodeObjectList`. */
export function encodeItem(type: Shape, object: Typed, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case 'json':
      return Buffer.from(JSON.stringify(object));
    case 'yaml':
      return Buffer.from(writeYaml([object]));
    case 'protobuf':
      return encodeMessage(type.root, object);
  }
}

export interface ListHead {
  /** The kind of the list: `NodeList`. */
  kind: string;
  apiVersion: string;
  metadata: ListMeta;
}

/** Assembles a list from items encoded by `encodeItem`. */
export function encodeObjectList(head: ListHead, items: readonly Uint8Array[], encoding: Encoding): Buffer {
  switch (encoding) {
    case 'json':
      return jsonList(head, items);
    case 'yaml':
      return yamlList(head, items);
    case 'protobuf': {
      const { kind, apiVersion, metadata } = head;
      return bufferOf(encodeEnvelope({ kind, apiVersion }, encodeList(items, metadata)));
    }
  }
}

function jsonList({ kind, apiVersion, metadata }: ListHead, items: readonly Uint8Array[]): Buffer {
  const head = JSON.stringify({ kind, apiVersion, metadata });
  const comma = Buffer.from(',');
  const parts: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(item);
  }
  parts.push(Buffer.from(']}'));
  return Buffer.concat(parts);
}

/** With keys in alphabetical order, like all YAML here. */
function yamlList({ kind, apiVersion, metadata }: ListHead, items: readonly Uint8Array[]): Buffer {
  const before = `${writeYaml({ apiVersion })}${items.length === 0 ? 'items: []\n' : 'items:\n'}`;
  return Buffer.concat([Buffer.from(before), ...items, Buffer.from(writeYaml({ kind, metadata }))]);
}

/** The same memory as a Buffer. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
