import type { Pod, YamlReader } from '../../../api/index.ts';
import { DecodeError, formatComplaints, isRecord, parseText } from '../../../api/index.ts';
import { fullName, sourceAnnotation } from '../names.ts';
import type { Fault } from './manifest.ts';
import { judgeManifest } from './manifest.ts';

export interface ManifestListOptions {
  /** Where it comes from; it is part of the hash of each pod. */
  readonly url: string;
  readonly nodeName: string;
  readonly readYaml: YamlReader;
}

export type ListJudgement =
  | { readonly pods: readonly Pod[]; readonly warnings: readonly string[] }
  | { readonly faults: readonly Fault[] };

const maxPods = 500;
const maxFaults = 20;

/**
 * Judges what a URL has: one Pod, or a list of pods, as JSON or YAML. Each is judged as a manifest in a file is. As in the
 * reference all are refused when one has a fault.
 */
export function judgeManifestList(bytes: Uint8Array, options: ManifestListOptions): ListJudgement {
  try {
    return judge(bytes, options);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { cause, message } = error;
    return { faults: [{ field: '', message: cause instanceof Error ? cause.message : message }] };
  }
}

function judge(bytes: Uint8Array, options: ManifestListOptions): ListJudgement {
  const isJson = Buffer.from(bytes).toString('utf8', 0, 1000).trimStart().startsWith('{');
  const { value, duplicates } = parseText(
    isJson ? { encoding: 'json', bytes } : { encoding: 'yaml', bytes, read: options.readYaml },
  );
  const repeated = formatComplaints('duplicate', duplicates).map((message) => ({ field: '', message }));
  if (repeated.length > 0) return { faults: repeated.slice(0, maxFaults) };
  const items = readItems(value);
  if (items === undefined)
    return { faults: [{ field: 'kind', message: 'it must be a Pod, or a PodList, of v1' }] };
  if (items.length > maxPods)
    return { faults: [{ field: 'items', message: `there are more than ${maxPods} pods` }] };
  return judgeItems(items, options);
}

/** Each item is written again, so that the order of keys, the encoding and the place in the list change no hash. */
function judgeItems(
  items: readonly (readonly [path: string, item: unknown])[],
  { url, nodeName, readYaml }: ManifestListOptions,
): ListJudgement {
  const faults: Fault[] = [];
  const warnings: string[] = [];
  const pods = new Map<string, Pod>();
  for (const [path, item] of items) {
    const manifest = { file: `${url}.json`, bytes: Buffer.from(JSON.stringify(item)) };
    const judgement = judgeManifest(manifest, { nodeName, readYaml });
    if ('faults' in judgement) {
      faults.push(
        ...judgement.faults.map(({ field, message }) => ({ field: joinPath(path, field), message })),
      );
      continue;
    }
    const pod = withSource(judgement.pod);
    warnings.push(...judgement.warnings);
    if (pods.has(fullName(pod)))
      faults.push({ field: joinPath(path, 'metadata.name'), message: `${fullName(pod)} is there twice` });
    const { uid } = pod.metadata ?? {};
    if (
      [...pods.values()].some(
        ({ metadata }) => metadata?.uid === uid && metadata?.name !== pod.metadata?.name,
      )
    )
      faults.push({ field: joinPath(path, 'metadata.uid'), message: `${uid} is there twice` });
    pods.set(fullName(pod), pod);
  }
  return faults.length > 0 ? { faults: faults.slice(0, maxFaults) } : { pods: [...pods.values()], warnings };
}

const joinPath = (path: string, field: string) => [path, field].filter((each) => each !== '').join('.');

/** Undefined for what is neither a pod nor a list of v1. Items of a list need not say again what they are. */
function readItems(value: unknown): [path: string, item: unknown][] | undefined {
  if (!isRecord(value) || value['apiVersion'] !== 'v1') return undefined;
  if (value['kind'] === 'Pod') return [['', value]];
  const { items } = value;
  if ((value['kind'] !== 'PodList' && value['kind'] !== 'List') || !Array.isArray(items)) return undefined;
  const typed = (item: unknown) => (isRecord(item) ? { apiVersion: 'v1', kind: 'Pod', ...item } : item);
  return items.map((item, index) => [`items[${index}]`, typed(item)]);
}

function withSource(pod: Pod): Pod {
  const annotations = { ...pod.metadata?.annotations, [sourceAnnotation]: 'http' };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
