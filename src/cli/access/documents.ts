import { isRecord, JsonError, loadYamlReader, parseJson, YamlError } from '../../api/index.ts';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../terminal/context.ts';
import { inputName, readInput } from '../terminal/input.ts';

/** All objects must fit into one request. */
const maxInputBytes = 3 * 1024 * 1024;

/** The roles and bindings in some files, and the number of other objects in them. */
interface Documents {
  objects: Record<string, unknown>[];
  others: number;
}

const namespaced: readonly unknown[] = ['Role', 'RoleBinding'];
const kinds: readonly unknown[] = [...namespaced, 'ClusterRole', 'ClusterRoleBinding'];

/**
 * Reads YAML or JSON files with one or several documents; `-` is standard input. Lists are split into their items. A
 * namespaced object without a namespace gets `namespace`, or `default`. Throws an ExitError for what cannot be read.
 */
export async function readDocuments(
  files: readonly string[],
  namespace: string | undefined,
  context: CommandContext,
): Promise<Documents> {
  const documents: Documents = { objects: [], others: 0 };
  for (const file of files) {
    const name = inputName(file);
    const text = await readText(file, context);
    for (const value of await parseDocuments(text, name)) collect(documents, value, namespace, name);
  }
  return documents;
}

async function readText(file: string, context: CommandContext): Promise<string> {
  try {
    return Buffer.from(await readInput(file, maxInputBytes, context)).toString('utf8');
  } catch (error) {
    if (file !== '-') throw error;
    throw inputError(inputName(file), describeError(error));
  }
}

async function parseDocuments(text: string, name: string): Promise<unknown[]> {
  try {
    const [first, ...others] = splitJson(text);
    if (first !== undefined) return [first, ...others].map((each) => parseJson(each).value);
    const read = await loadYamlReader();
    return text.split(/^---(?=\s|$)/m).map((each) => (isEmpty(each) ? undefined : read(each).value));
  } catch (error) {
    if (!(error instanceof YamlError || error instanceof JsonError)) throw error;
    throw inputError(name, error.message);
  }
}

/** Whether there are only blanks, comments and directives. */
function isEmpty(text: string): boolean {
  return /^(?:[^\S\n]*(?:[#%].*)?(?:\n|$))*$/.test(text);
}

/** Splits concatenated JSON values; empty if the text does not start with one. */
function splitJson(text: string): string[] {
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
  if (!isRecord(value)) throw inputError(name, 'a document in it is no object');
  const { kind, items } = value;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    const apiVersion = value['apiVersion'];
    const itemKind = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
    for (const item of items) {
      collect(documents, isRecord(item) ? { ...itemKind, ...item } : item, namespace, name);
    }
  } else if (!isRbacObject(value)) documents.others++;
  else if (namespaced.includes(kind)) documents.objects.push(withNamespace(value, namespace, name));
  else documents.objects.push(value);
}

function isRbacObject({ apiVersion, kind }: Record<string, unknown>): boolean {
  return (
    typeof apiVersion === 'string' && apiVersion.startsWith('rbac.authorization.') && kinds.includes(kind)
  );
}

function withNamespace(object: Record<string, unknown>, namespace: string | undefined, name: string) {
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const given = metadata['namespace'];
  if (given === undefined || given === '') {
    return { ...object, metadata: { ...metadata, namespace: namespace ?? 'default' } };
  }
  if (namespace === undefined || given === namespace) return object;
  const why = `an object in it is of namespace ${JSON.stringify(given)}, which is not ${JSON.stringify(namespace)}`;
  throw inputError(name, why);
}

function inputError(name: string, why: string): ExitError {
  return new ExitError(exitCodes.configuration, `${name} cannot be used: ${why}`);
}
