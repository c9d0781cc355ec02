import { isRecord } from '../../api/index.ts';

/** A problem of a kubeconfig; the reader adds the path of the file. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** A mapping in the file, with its position for messages. */
export interface Fields {
  /** `clusters[production]`; empty for the file itself. */
  readonly at: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export function pathOf({ at }: Fields, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}

/** Undefined if it is absent or empty. */
export function readText(fields: Fields, key: string): string | undefined {
  const value = fields.values[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new KubeconfigError(
    `${pathOf(fields, key)} must be a string; put it in quotes if it looks like a number`,
  );
}

export function requireText(fields: Fields, key: string): string {
  const value = readText(fields, key);
  if (value === undefined) throw new KubeconfigError(`${pathOf(fields, key)} is not set`);
  return value;
}

/** The entry with a name in `clusters`, `users` or `contexts`; the first one of several, as in kubectl. */
export function requireEntry(file: Fields, list: string, inner: string, name: string): Fields {
  const entries = file.values[list] ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`${list} must be a list`);
  const known: string[] = [];
  for (const entry of entries) {
    if (!isRecord(entry) || typeof entry['name'] !== 'string') {
      throw new KubeconfigError(`every entry of ${list} must have a name`);
    }
    if (entry['name'] === name) return toFields(entry[inner] ?? {}, `${list}[${name}]`);
    known.push(entry['name']);
  }
  const others = known.length === 0 ? 'it is empty' : `it has ${known.slice(0, 10).join(', ')}`;
  throw new KubeconfigError(`${list} has no entry named ${JSON.stringify(name)}: ${others}`);
}

export function toFields(value: unknown, at: string): Fields {
  if (isRecord(value)) return { at, values: value };
  throw new KubeconfigError(
    at === '' ? 'it must be a mapping with clusters, users and contexts' : `${at} must be a mapping`,
  );
}

const maxAliases = 100;

/**
 * Parses YAML or JSON. Messages contain positions but never the text, which has keys and tokens in it. The library, which
 * limits the depth itself, is loaded here because few processes read a kubeconfig.
 */
export async function parseDocument(text: string): Promise<unknown> {
  const { isNode, LineCounter, parseAllDocuments, visit } = await import('yaml');
  const lineCounter = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const documents = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: false, // compares each key with each: minutes for a file of a megabyte
  });
  if (!Array.isArray(documents) || documents.length === 0) throw new KubeconfigError('it is empty');
  if (documents.length > 1)
    throw new KubeconfigError(`it has ${documents.length} YAML documents instead of one`);
  const [document] = documents;
  const error = document?.errors[0];
  if (error !== undefined) {
    const what = error.code === 'RESOURCE_EXHAUSTION' ? 'nested too deeply' : `no valid YAML (${error.code})`;
    throw new KubeconfigError(`${at(error.pos[0])}: it is ${what}`);
  }
  visit(document ?? null, {
    Map(_key, { items }) {
      const repeated = findRepeated(items.map(({ key }) => key));
      if (repeated === undefined) return;
      const where = isNode(repeated) && repeated.range ? `${at(repeated.range[0])}: ` : '';
      throw new KubeconfigError(`${where}a key stands there for the second time`);
    },
  });
  return document?.toJS({ maxAliasCount: maxAliases });
}

function findRepeated(keys: readonly unknown[]): unknown {
  const distinct = new Set<string>();
  return keys.find((key) => distinct.size === distinct.add(String(key)).size);
}
