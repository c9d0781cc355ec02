import assert from 'node:assert/strict';
import { decodeEnvelope, decodeMessage } from '../../../../../src/api/codec/protobuf/index.ts';
import type { ApiObject, Encoding, ObjectType } from '../../../../../src/api/index.ts';
import {
  encodeObject,
  isRecord,
  listMeta,
  loadYamlReader,
  status,
  withWritten,
} from '../../../../../src/api/index.ts';
import { field, list, struct } from '../../../../../src/api/schema/index.ts';
import type { Reply } from '../../support/index.ts';

const readYaml = await loadYamlReader();

export const encodings: readonly Encoding[] = ['json', 'yaml', 'protobuf'];
export const mediaTypeOf: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** The body and headers of a write. */
export function sending(
  type: ObjectType,
  object: ApiObject,
  encoding: Encoding,
  answer: Encoding = encoding,
) {
  return {
    body: encodeObject(type, object, encoding),
    headers: { 'content-type': mediaTypeOf[encoding], accept: mediaTypeOf[answer] },
  };
}

type Shown = ApiObject & Record<string, unknown>;

/** What a client sees in an answer; `type` is what it expects, which only protobuf needs to know. */
export function readReply({ headers, bytes }: Reply, { root }: Pick<ObjectType, 'root'>): Shown {
  return readBytes(String(headers['content-type']), bytes, root);
}

export function readBytes(contentType: string, bytes: Buffer, root: ObjectType['root']): Shown {
  const encoding = encodings.find((each) => contentType === mediaTypeOf[each]);
  assert.ok(encoding, contentType);
  const value = readers[encoding](bytes, root);
  assert.ok(isRecord(value));
  return value;
}

const readers: Readonly<Record<Encoding, (bytes: Buffer, root: ObjectType['root']) => unknown>> = {
  json: (bytes) => JSON.parse(bytes.toString()),
  yaml: (bytes) => readYaml(bytes.toString()).value,
  protobuf(bytes, root) {
    const { raw, kind, apiVersion } = decodeEnvelope(bytes);
    const type = kind === 'Status' ? status : root;
    return { kind, apiVersion, ...withWritten(type, decodeMessage(type, raw)) }; // as a client in Go sees it
  },
};

/** The type of a list of objects. */
export function listType({ root }: Pick<ObjectType, 'root'>): Pick<ObjectType, 'root'> {
  const fields = { metadata: field(1, listMeta, ''), items: field(2, list(root), '') };
  return { root: struct('List', fields) };
}
