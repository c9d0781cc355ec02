import assert from 'node:assert/strict';
import type { Kind, ObjectType } from '../../../../src/api/index.ts';
import { servedKinds } from '../../../../src/api/index.ts';
import { openApi3Document, swagger2Document } from '../../../../src/api/openapi/index.ts';
import type { Schema } from '../../../../src/api/openapi/schema.ts';
import { isRecord } from '../../../../src/api/schema/index.ts';

export const served = { kinds: servedKinds, groupSuffix: 'k8s.io' };

type Schemas = Readonly<Record<string, Schema>>;
export interface DocumentOperation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean }[];
  'x-kubernetes-action': string;
  'x-kubernetes-group-version-kind': { group: string; version: string; kind: string };
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }>; schema?: Schema }>;
}
type PathItem = Partial<
  Record<'get' | 'put' | 'post' | 'delete' | 'patch' | 'head' | 'options', DocumentOperation>
> & {
  parameters: { name: string; in: string }[];
};
type Paths = Readonly<Record<string, PathItem>>;

/** The documents as a client reads them. */
export function swagger2Of(kinds: readonly Kind[] = servedKinds): { paths: Paths; definitions: Schemas } {
  return JSON.parse(JSON.stringify(swagger2Document({ ...served, kinds })));
}

export function openApi3Of(kinds: readonly Kind[] = servedKinds): {
  paths: Paths;
  components: { schemas: Schemas };
} {
  return JSON.parse(JSON.stringify(openApi3Document(kinds, served)));
}

/** Every operation of a document as `GET /path`. */
export function operationsIn(paths: Paths): Map<string, DocumentOperation> {
  const found = new Map<string, DocumentOperation>();
  for (const [path, item] of Object.entries(paths)) {
    for (const method of ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'] as const) {
      const operation = item[method];
      if (operation !== undefined) found.set(`${method.toUpperCase()} ${path}`, operation);
    }
  }
  return found;
}

/** Every reference anywhere in a document. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

/** What a schema refers to, whichever way it does. */
export function targetOf(schema: Schema, schemas: Schemas): Schema {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref === undefined) return schema;
  const target = schemas[ref.split('/').at(-1) ?? ''];
  assert.ok(target, `${ref} leads nowhere`);
  return target;
}

/** All that can be sent or answered as an object: the kinds and the bodies of their subresources. */
export function objectTypes(): ObjectType[] {
  return servedKinds.flatMap((kind) => [
    kind,
    ...kind.subresources.flatMap(({ body, connects }) => (connects || body === undefined ? [] : [body])),
  ]);
}
