import { isRecord } from '../../api/index.ts';

/** What is wrong with a kubeconfig; the reader adds the file's name. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** A mapping of the file, and where it stands, for messages. */
export interface Fields {
  /** `clusters[production]`; empty for the file itself. */
  readonly at: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export function pathOf({ at }: Fields, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}

/** Undefined where it is absent or empty. */
export function textOf(fields: Fields, key: string): string | undefined {
  const value = fields.values[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new KubeconfigError(
    `${pathOf(fields, key)} must be a string; put it in quotes if it looks like a number`,
  );
}

export function requiredTextOf(fields: Fields, key: string): string {
  const value = textOf(fields, key);
  if (value === undefined) throw new KubeconfigError(`${pathOf(fields, key)} is not set`);
  return value;
}

/** The named entry of one of the three lists (`clusters`, `users`, `contexts`); of several the first, as in kubectl. */
export function entryOf(file: Fields, list: string, inner: string, name: string): Fields {
  const entries = file.values[list] ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`${list} must be a list`);
  const known: string[] = [];
  for (const entry of entries) {
    if (!isRecord(entry) || typeof entry['name'] !== 'string') {
      throw new KubeconfigError(`every entry of ${list} must have a name`);
    }
    if (entry['name'] === name) return mapping(entry[inner] ?? {}, `${list}[${name}]`);
    known.push(entry['name']);
  }
  const others = known.length === 0 ? 'it is empty' : `it has ${known.slice(0, 10).join(', ')}`;
  throw new KubeconfigError(`${list} has no entry named ${JSON.stringify(name)}: ${others}`);
}

export function mapping(value: unknown, at: string): Fields {
  if (isRecord(value)) return { at, values: value };
  throw new KubeconfigError(
    at === '' ? 'it must be a mapping with clusters, users and contexts' : `${at} must be a mapping`,
  );
}
