import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { Cause, Pod, TextBody, YamlReader } from '../../api/index.ts';
import {
  DecodeError,
  decodeValue,
  findMissingFields,
  forbiddenValue,
  formatComplaints,
  isRecord,
  parseText,
  podKind,
  requiredValue,
  unsupportedValue,
  validateMetadata,
} from '../../api/index.ts';
import { hashAnnotation, mirrorAnnotation, seenAnnotation, sourceAnnotation } from './names.ts';
import { referenceCauses } from './references.ts';
import { notStarted } from './status.ts';

/** What is wrong with a manifest. */
export interface Fault {
  /** The field, such as `spec.containers[0].image`; empty where it is the file as a whole. */
  readonly field: string;
  readonly message: string;
}

/** What a manifest comes to: a pod, or why it is none. */
export type Judgement =
  | { readonly pod: Pod; readonly hash: string; readonly warnings: readonly string[] }
  | { readonly faults: readonly Fault[] };

export interface Manifest {
  /** The name of the file: of two that say the same each is a pod of its own. */
  file: string;
  bytes: Uint8Array;
}

export interface JudgeOptions {
  nodeName: string;
  readYaml: YamlReader;
}

/** More are not told of one file. */
const faultsLimit = 20;
/** Nor more of one fault: values stand in them. */
const textLimit = 500;

/**
 * Judges a manifest: one Pod of v1, strictly, with what the reference makes of it (the node's name behind its own, its
 * marks, the toleration that keeps it on the node). When it was seen is not said yet.
 */
export function judgeManifest(manifest: Manifest, options: JudgeOptions): Judgement {
  try {
    return judge(manifest, options);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { cause, message } = error;
    return { faults: [{ field: '', message: cut(cause instanceof Error ? cause.message : message) }] };
  }
}

function judge({ file, bytes }: Manifest, { nodeName, readYaml }: JudgeOptions): Judgement {
  const body: TextBody =
    extname(file) === '.json' ? { encoding: 'json', bytes } : { encoding: 'yaml', bytes, read: readYaml };
  const { value, duplicates } = parseText(body);
  const typeCauses = causesOfType(value);
  if (typeCauses.length > 0) return { faults: faultsOf(typeCauses) };
  const hash = hashOf(value, `host:${nodeName}file:${file}`);
  const { object, complaints } = decodeValue(secretive, 'v1', value);
  const strict = [...complaints, ...formatComplaints('duplicate', duplicates)];
  const own = ownCauses(object);
  const pod = podKind.default(staticPod(object, nodeName, hash));
  const causes = [...own, ...podCauses(pod)];
  if (strict.length + causes.length > 0) {
    const told = strict.map((message) => ({ field: '', message: cut(message) }));
    return { faults: [...told, ...faultsOf(causes)].slice(0, faultsLimit) };
  }
  const named = object.spec?.nodeName;
  const elsewhere =
    named === undefined || named === '' || named === nodeName ? [] : [toldElsewhere(named, nodeName)];
  return { pod, hash, warnings: [...elsewhere, ...podKind.warnings(pod, undefined)] };
}

/** What stands in the wrong place is not shown: faults go to the log, and it may be a password without its quotes. */
const secretive = { ...podKind, sensitive: true } as const;

const toldElsewhere = (named: string, nodeName: string) =>
  `spec.nodeName: ${JSON.stringify(named)} is replaced by the name of this node, ${JSON.stringify(nodeName)}`;

function faultsOf(causes: readonly Cause[]): Fault[] {
  return causes
    .slice(0, faultsLimit)
    .map(({ field, message }) => ({ field: cut(field), message: cut(message) }));
}

function cut(text: string): string {
  return text.length > textLimit ? `${text.slice(0, textLimit)}…` : text;
}

/** A file that says nothing could be anything: it has to name its type. */
function causesOfType(value: unknown): Cause[] {
  if (value === null) return [requiredValue('kind', 'the file is empty')];
  const { apiVersion, kind } = isRecord(value) ? value : {};
  return [
    ...(apiVersion === 'v1' ? [] : [unsupportedValue('apiVersion', apiVersion ?? '', ['v1'])]),
    ...(kind === 'Pod' ? [] : [unsupportedValue('kind', kind ?? '', ['Pod'])]),
  ];
}

/** What means nothing, or something else, in a manifest. */
function ownCauses({ metadata = {} }: Pod): Cause[] {
  const { name, finalizers = [], ownerReferences = [], annotations = {} } = metadata;
  const refused = (field: string, detail: string) => [forbiddenValue(`metadata.${field}`, detail)];
  return [
    ...(name ? [] : [requiredValue('metadata.name')]),
    ...(finalizers.length > 0 ? refused('finalizers', 'a static pod ends with its manifest') : []),
    ...(ownerReferences.length > 0 ? refused('ownerReferences', 'a static pod belongs to its node') : []),
    ...(annotations[mirrorAnnotation] === undefined
      ? []
      : refused(`annotations[${mirrorAnnotation}]`, 'it marks what the node makes of a static pod')),
  ];
}

function podCauses(pod: Pod): Cause[] {
  // without its name there is no name of the node behind it either: that has been told
  const causes = [...validateMetadata(podKind, pod, undefined), ...findMissingFields(podKind.root, pod)];
  return [...(causes.length > 0 ? causes : podKind.validate(pod, undefined)), ...referenceCauses(pod)];
}

/** As the reference has it: it stays where it is, whatever comes over the node. */
const staysAnyway = { operator: 'Exists', effect: 'NoExecute' };

function staticPod({ metadata = {}, spec }: Pod, nodeName: string, hash: string): Pod {
  const { name, namespace, labels, annotations, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name || 'unnamed'}-${nodeName.toLowerCase()}`,
      namespace: namespace || 'default',
      uid: uid || hash,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [sourceAnnotation]: 'file', [hashAnnotation]: hash },
    },
    ...(spec === undefined
      ? {}
      : { spec: { ...spec, nodeName, tolerations: [...(spec.tolerations ?? []), staysAnyway] } }),
    status: notStarted(nodeName),
  };
}

/** The same pod, marked with when it was first seen so. */
export function seenAt(pod: Pod, seen: string): Pod {
  const annotations = { ...pod.metadata?.annotations, [seenAnnotation]: seen };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** 32 hexadecimal digits that any other content has others for; the order of keys is no content. */
function hashOf(value: unknown, salt: string): string {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
  return createHash('sha256').update(text).update(salt).digest('hex').slice(0, 32);
}
