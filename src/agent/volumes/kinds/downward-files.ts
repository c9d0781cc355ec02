import type { Pod } from '../../../api/index.ts';
import type { DownwardFacts } from '../../downward/index.ts';
import { containerResource, findContainer, podField } from '../../downward/index.ts';
import type { FileContent } from '../atomic/payload.ts';
import type { Collected } from './made-of-files.ts';
import { madeOfFiles } from './made-of-files.ts';
import { usualMode } from './object-files.ts';
import type { Volume } from './types.ts';

type Item = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

/** What a pod says of itself, as files in memory. */
export const downwardAPI = madeOfFiles({
  plugin: 'kubernetes.io~downward-api',
  isInMemory: true,
  async collect({ pod, source }, tools) {
    const { items = [], defaultMode } = source.downwardAPI ?? {};
    return downwardFiles(pod, items, defaultMode, tools.downward(pod));
  },
});

export function downwardFiles(
  pod: Pod,
  items: readonly Item[],
  defaultMode: number = usualMode,
  facts: DownwardFacts,
): Collected {
  const files = new Map<string, FileContent>();
  for (const item of items) {
    const bytes = Buffer.from(readItem(pod, item, facts), 'utf8');
    files.set(item.path, { bytes, mode: item.mode ?? defaultMode });
  }
  return { files, sources: ['fields of the pod'] };
}

function readItem(pod: Pod, { path, fieldRef, resourceFieldRef }: Item, facts: DownwardFacts): string {
  if (fieldRef !== undefined) return fieldOf(pod, fieldRef.fieldPath, facts);
  if (resourceFieldRef === undefined) throw new Error(`file ${path} of the pod's fields names no field`);
  const { containerName = '' } = resourceFieldRef;
  return containerResource(pod, findContainer(pod, containerName), resourceFieldRef, facts);
}

function fieldOf(pod: Pod, path: string, facts: DownwardFacts): string {
  if (path === 'metadata.labels') return formatMap(pod.metadata?.labels);
  if (path === 'metadata.annotations') return formatMap(pod.metadata?.annotations);
  return podField(pod, path, facts);
}

/** A line `key="value"` for each, by key. */
export function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .join('\n');
}

const escapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** As Go's `%q` writes a text. */
function quote(text: string): string {
  const written = [...text.toWellFormed()].map((character) => {
    const known = escapes[character];
    if (known !== undefined) return known;
    return printable.test(character) ? character : escapeCode(character.codePointAt(0) ?? 0);
  });
  return `"${written.join('')}"`;
}

function escapeCode(code: number): string {
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
