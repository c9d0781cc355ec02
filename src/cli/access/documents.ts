import { isRecord, JsonError, loadYamlReader, parseJson, YamlError } from '../../api/index.ts';
import { ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';

/** What is sent to be judged must fit into a request. */
const limitBytes = 3 * 1024 * 1024;

/** The roles and bindings in some files, and how many other objects stand there. */
export interface Documents {
  objects: Record<string, unknown>[];
  others: number;
}

const namespaced: readonly unknown[] = ['Role', 'RoleBinding'];
const kinds: readonly unknown[] = [...namespaced, 'ClusterRole', 'ClusterRoleBinding'];

/**
 * Reads files of YAML or JSON, of one or several documents; `-` is standard input. Lists are taken apart. What belongs to a
 * namespace and names none gets `namespace`, else `default`. Throws an ExitError for what cannot be read.
 */
export async function readDocuments(
  files: readonly string[],
  namespace: string | undefined,
  context: CommandContext,
): Promise<Documents> {
  const documents: Documents = { objects: [], others: 0 };
  for (const file of files) {
    const name = file === '-' ? 'standard input' : file;
    const text = file === '-' ? await readInput(context) : await readFile(file);
    for (const value of await valuesIn(text, name)) collect(documents, value, namespace, name);
  }
  return documents;
}

async function readFile(path: string): Promise<string> {
  const bytes = await readRegularFile(path, { limitBytes });
  return bytes.toString('utf8');
}

async function readInput({ stdin }: CommandContext): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin ?? []) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > limitBytes) throw unreadable('standard input', `it has more than ${limitBytes} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function valuesIn(text: string, name: string): Promise<unknown[]> {
  try {
    const [first, ...others] = jsonTexts(text);
    if (first !== undefined) return [first, ...others].map((each) => parseJson(each).value);
    const read = await loadYamlReader();
    return text.split(/^---(?=\s|$)/m).map((each) => (isEmpty(each) ? undefined : read(each).value));
  } catch (error) {
    if (!(error instanceof YamlError || error instanceof JsonError)) throw error;
    throw unreadable(name, error.message);
  }
}

/** Nothing but blanks, comments and directives. */
function isEmpty(text: string): boolean {
  return /^(?:[^\S\n]*(?:[#%].*)?(?:\n|$))*$/.test(text);
}

/** JSON values one after another; none where the text does not begin with one. */
function jsonTexts(text: string): string[] {
  if (!/^\s*[{[]/.test(text)) return [];
  const texts: string[] = [];
  let [depth, start] = [0, 0];
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/gs)) {
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (depth > 0 || token.startsWith('"')) continue;
    const end = index + 1;
    texts.push(text.slice(start, end).replace(/^\s*---/, ''));
    start = end;
  }
  const rest = text.slice(start);
  return /^\s*$/.test(rest) ? texts : [...texts, rest];
}

function collect(documents: Documents, value: unknown, namespace: string | undefined, name: string): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value)) throw unreadable(name, 'a document in it is no object');
  const { kind, items } = value;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    const apiVersion = value['apiVersion'];
    const itemKind = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
    for (const item of items) {
      collect(documents, isRecord(item) ? { ...itemKind, ...item } : item, namespace, name);
    }
  } else if (!isOfRbac(value)) documents.others++;
  else if (namespaced.includes(kind)) documents.objects.push(inNamespace(value, namespace, name));
  else documents.objects.push(value);
}

function isOfRbac({ apiVersion, kind }: Record<string, unknown>): boolean {
  return (
    typeof apiVersion === 'string' && apiVersion.startsWith('rbac.authorization.') && kinds.includes(kind)
  );
}

function inNamespace(object: Record<string, unknown>, namespace: string | undefined, name: string) {
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const given = metadata['namespace'];
  if (given === undefined || given === '') {
    return { ...object, metadata: { ...metadata, namespace: namespace ?? 'default' } };
  }
  if (namespace === undefined || given === namespace) return object;
  const why = `an object in it is of namespace ${JSON.stringify(given)}, which is not ${JSON.stringify(namespace)}`;
  throw unreadable(name, why);
}

function unreadable(name: string, why: string): ExitError {
  return new ExitError(exitCodes.configuration, `${name} cannot be used: ${why}`);
}
