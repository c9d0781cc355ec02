import assert from 'node:assert/strict';
import type { ApiObject } from '../../../../src/api/index.ts';
import { isRecord } from '../../../../src/api/index.ts';

/**
 * Who owns which fields of an object: each manager with the paths of its fields, sorted. Who applies goes by its name,
 * `A`; who changes an object in another way is `A updates`; through a subresource, `A through status`. A field that is
 * owned together with what is in it, such as an item of a list, is told by what is in it.
 */
export function managersOf({ metadata }: ApiObject): Record<string, string[]> {
  const owners: Record<string, string[]> = {};
  for (const entry of metadata?.managedFields ?? []) {
    assert.equal(entry.fieldsType, 'FieldsV1');
    // none where the object stayed as it was when the entry came into being, as with the reference
    assert.match(entry.time ?? 'none', /^(none|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/);
    assert.ok(entry.apiVersion, 'an entry tells the version of its fields');
    const name = [
      entry.manager,
      ...(entry.operation === 'Update' ? ['updates'] : []),
      ...(entry.subresource === undefined ? [] : ['through', entry.subresource]),
    ].join(' ');
    assert.equal(owners[name], undefined, `one entry for ${name}`);
    owners[name] = pathsIn(entry.fieldsV1 ?? {}, '').sort();
  }
  return owners;
}

function pathsIn(set: Readonly<Record<string, unknown>>, path: string): string[] {
  const inner = Object.entries(set).filter(([element]) => element !== '.');
  if (inner.length === 0) return path === '' ? [] : [path];
  return inner.flatMap(([element, below]) => {
    assert.ok(isRecord(below), `${path} ${element}`);
    return pathsIn(below, `${path}${stepOf(element)}`);
  });
}

/** `f:name` is `.name`, `k:{"name":"web"}` is `[name=web]`, `v:"x"` is `[x]`. */
function stepOf(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  const value: unknown = JSON.parse(rest);
  if (!isRecord(value)) return `[${value}]`;
  return `[${Object.entries(value)
    .map(([key, of]) => `${key}=${of}`)
    .join(',')}]`;
}
