import type { ApiObject, Kind } from '../../../api/index.ts';
import { changeableMetadata, isRecord } from '../../../api/index.ts';

const typeFields = ['apiVersion', 'kind', 'metadata'];

/**
 * An object as a write through this path makes it: what the path does not stand for is taken from `source`, and taken
 * away where `source` lacks it. `subresource` is empty for the object's own path.
 */
export function withOwnFields<T extends ApiObject>(
  { subresources, root }: Kind,
  subresource: string,
  object: T,
  source: ApiObject,
): T {
  if (subresources.length === 0) return object;
  const part = subresources.find(({ name }) => name === subresource);
  if (part === undefined) {
    const foreign = subresources.flatMap(({ shared, fields }) => (shared ? [] : fields));
    return withFieldsOf(object, source, foreign);
  }
  const fields = Object.keys(root.fields).filter((name) => !typeFields.includes(name));
  const result = withFieldsOf(object, source, fields);
  for (const path of part.fields) take(result, object, path.split('.'));
  const { metadata: own = [] } = part;
  const foreign = changeableMetadata.filter((name) => !own.includes(name));
  return { ...result, metadata: withFieldsOf(object.metadata ?? {}, source.metadata ?? {}, foreign) };
}

function withFieldsOf<T extends object>(object: T, source: object, fields: readonly string[]): T {
  const result = { ...object };
  for (const field of fields) put(result, field, Reflect.get(source, field));
  return result;
}

/** Puts the value at a path of `source` into `target`, and leaves the parts of both as they are. */
function take(target: object, source: object, [name = '', inner]: readonly string[]): void {
  const given: unknown = Reflect.get(source, name);
  if (inner === undefined) {
    put(target, name, given);
    return;
  }
  const held: unknown = Reflect.get(target, name);
  const value = isRecord(given) ? given[inner] : undefined;
  if (!isRecord(held) && value === undefined) return;
  const next = isRecord(held) ? { ...held } : {};
  put(next, inner, value);
  put(target, name, next);
}

function put(target: object, name: string, value: unknown): void {
  if (value === undefined) Reflect.deleteProperty(target, name);
  else Reflect.set(target, name, value);
}
