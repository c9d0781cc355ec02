import { randomUUID } from 'node:crypto';
import type { ApiObject, ObjectMeta } from '../../api/index.ts';
import { formatTime } from '../../api/index.ts';

/** The second that it is, as it stands in metadata; to write it out takes longer than most of what a heartbeat costs. */
export class SecondText {
  #second = Number.NaN;
  #text = '';

  /** RFC 3339 of a time in milliseconds. */
  at(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = formatTime(now);
    }
    return this.#text;
  }
}

/** Metadata of a new object: what the server gives is given, whatever the client sent for it. No managedFields yet. */
export function newMetadata(given: ObjectMeta, name: string, namespace: string, now: number): ObjectMeta {
  const {
    name: _name,
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    selfLink: _link,
    managedFields: _managed,
    ...kept
  } = given;
  return {
    name,
    ...(namespace === '' ? {} : { namespace }),
    uid: randomUUID(),
    creationTimestamp: formatTime(now),
    ...kept,
  };
}

/** Metadata of a changed object: identity and life are those of the stored one. No managedFields yet. */
export function carriedMetadata(given: ObjectMeta, old: ApiObject): ObjectMeta {
  const was = old.metadata ?? {};
  const carried: ObjectMeta = {};
  for (const name of carriedNames) copy(name, was, carried);
  for (const name in given) if (!serversNames.has(name)) copy(name, given, carried);
  return carried;
}

const carriedNames = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'generateName',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];
const serversNames: ReadonlySet<string> = new Set([
  ...carriedNames,
  'resourceVersion',
  'selfLink',
  'managedFields',
]);

function copy(name: string, from: ObjectMeta, to: ObjectMeta): void {
  const value: unknown = Reflect.get(from, name);
  if (value !== undefined) Reflect.set(to, name, value);
}
