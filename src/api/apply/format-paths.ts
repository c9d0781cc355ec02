import { isRecord, tryParseJson } from '../../base/index.ts';
import type { FieldSet } from './field-set.ts';
import { childAt, isMember } from './field-set.ts';

/*
 * Formats sets of fields as paths for people: `.spec.containers[name="web"].image`, `.metadata.finalizers[="x"]`.
 */

/** Formats an element as a step of a path. */
export function formatStep(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${formatScalar(tryParseJson(rest))}]`;
  if (element.startsWith('i:')) return `[${rest}]`;
  const keys = tryParseJson(rest);
  if (!isRecord(keys)) return `[${rest}]`;
  const parts = Object.entries(keys).map(([name, value]) => `${name}=${formatScalar(value)}`);
  return `[${parts.join(',')}]`;
}

function formatScalar(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** The path of every member, in the reference's order: at each level the members first, then what is below them. */
export function formatPaths(set: FieldSet | undefined, before = ''): string[] {
  if (set === undefined) return [];
  const inner = Object.keys(set).flatMap((element): [string, FieldSet][] => {
    const part = element === '.' ? undefined : childAt(set, element);
    return part === undefined ? [] : [[`${before}${formatStep(element)}`, part]];
  });
  const members = inner.filter(([, part]) => isMember(part)).map(([path]) => path);
  return [...members, ...inner.flatMap(([path, part]) => formatPaths(part, path))];
}
