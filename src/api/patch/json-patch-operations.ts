import { complaintsLimit, isRecord, joinPath, typeNameOf } from '../schema/index.ts';
import type { Pointer } from './json-pointer.ts';
import { formatPointer, parsePointer } from './json-pointer.ts';
import { PatchError } from './patch-error.ts';

/** One step of a JSON Patch (RFC 6902, section 4). */
export type Operation =
  | { op: 'add' | 'replace' | 'test'; path: Pointer; value: unknown }
  | { op: 'copy'; path: Pointer; from: Pointer }
  | { op: 'move'; path: Pointer; from: Pointer }
  | { op: 'remove'; path: Pointer };

const names = ['add', 'copy', 'move', 'remove', 'replace', 'test'] as const;
const members = ['op', 'path', 'from', 'value'];

/** The limit of the reference. */
const operationsLimit = 10_000;

/** The operations of a patch; throws PatchError when it is not a JSON Patch, or has too many operations. */
export function readOperations(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) {
    throw new PatchError('malformed', `a JSON Patch is a list of operations, not ${typeNameOf(patch)}`);
  }
  if (patch.length > operationsLimit) {
    const message = `The allowed maximum operations in a JSON patch is ${operationsLimit}, got ${patch.length}`;
    throw new PatchError('tooLarge', message);
  }
  return patch.map(readOperation);
}

/** Paths of unknown members of operations: `[0].vlaue`. They have no effect (RFC 6902, section 4). */
export function unknownMembers(patch: unknown): string[] {
  if (!Array.isArray(patch)) return [];
  const paths: string[] = [];
  for (const [index, operation] of patch.entries()) {
    if (!isRecord(operation)) continue;
    for (const key in operation) if (!members.includes(key)) paths.push(joinPath([index, key]));
    if (paths.length > complaintsLimit) break;
  }
  return paths;
}

function readOperation(given: unknown, index: number): Operation {
  const malformed = (why: string) => new PatchError('malformed', `operation ${index}: ${why}`);
  if (!isRecord(given)) throw malformed(`it must be an object, not ${typeNameOf(given)}`);
  const op = names.find((name) => name === given['op']);
  if (op === undefined) throw malformed(`op must be one of ${names.join(', ')}`);
  const place = (name: 'path' | 'from'): Pointer => {
    const text = given[name];
    const pointer = typeof text === 'string' ? parsePointer(text) : undefined;
    if (pointer !== undefined) return pointer;
    throw malformed(
      `${op} needs a ${name} that is a JSON Pointer such as "/metadata/labels", not ${describeMember(text)}`,
    );
  };
  const path = place('path');
  if (op === 'remove') return { op, path };
  if (op === 'copy' || op === 'move') return { op, path, from: place('from') };
  if (!Object.hasOwn(given, 'value')) throw malformed(`${op} ${formatPointer(path.text)} needs a value`);
  return { op, path, value: given['value'] };
}

function describeMember(text: unknown): string {
  if (typeof text === 'string') return JSON.stringify(formatPointer(text));
  return text === undefined ? 'nothing' : typeNameOf(text);
}
