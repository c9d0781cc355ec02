import { KubeconfigError } from './fields.ts';

const aliasLimit = 100;

/**
 * Parses YAML or JSON. Messages say where, but never show the text, for it holds keys and tokens. The library is
 * loaded here because few processes read a kubeconfig; it has its own bound on depth.
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
      const again = repeatedIn(items.map(({ key }) => key));
      if (again === undefined) return;
      const where = isNode(again) && again.range ? `${at(again.range[0])}: ` : '';
      throw new KubeconfigError(`${where}a key stands there for the second time`);
    },
  });
  return document?.toJS({ maxAliasCount: aliasLimit });
}

function repeatedIn(keys: readonly unknown[]): unknown {
  const seen = new Set<string>();
  return keys.find((key) => seen.size === seen.add(String(key)).size);
}
