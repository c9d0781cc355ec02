import { isRecord, tryParseJson } from '../../base/index.ts';
import type { FieldSet } from './field-set.ts';
import { below, isMember } from './field-set.ts';

/*
 * Sets of fields as people read them: `.spec.containers[name="web"].image`, `.metadata.finalizers[="x"]`.
 */

/** An element as a step of a path. */
export function stepOf(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${shown(tryParseJson(rest))}]`;
  if (element.startsWith('i:')) return `[${rest}]`;
  const keys = tryParseJson(rest);
  if (!isRecord(keys)) return `[${rest}]`;
  const parts = Object.entries(keys).map(([name, value]) => `${name}=${shown(value)}`);
  return `[${parts.join(',')}]`;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** The path of every member; of those of one value, the members first and then what is below them, as the reference tells them. */
export function pathsOf(set: FieldSet | undefined, before = ''): string[] {
  if (set === undefined) return [];
  const inner = Object.keys(set).flatMap((element): [string, FieldSet][] => {
    const part = element === '.' ? undefined : below(set, element);
    return part === undefined ? [] : [[`${before}${stepOf(element)}`, part]];
  });
  const members = inner.filter(([, part]) => isMember(part)).map(([path]) => path);
  return [...members, ...inner.flatMap(([path, part]) => pathsOf(part, path))];
}
