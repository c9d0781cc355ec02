import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { Cause, Pod, TextBody, YamlReader } from '../../../api/index.ts';
import {
  DecodeError,
  decodeValue,
  findMissingFields,
  forbiddenValue,
  formatComplaints,
  invalidValue,
  isRecord,
  parseText,
  podKind,
  requiredValue,
  unsupportedValue,
  validateMetadata,
} from '../../../api/index.ts';
import {
  firstObservedAnnotation,
  hashAnnotation,
  isPodUid,
  mirrorAnnotation,
  sourceAnnotation,
} from '../names.ts';
import { findReferenceCauses } from './references.ts';

/** What is wrong with a manifest. */
export interface Fault {
  /** The field, such as `spec.containers[0].image`; empty where it is the file as a whole. */
  readonly field: string;
  readonly message: string;
}

/** The result of judging a manifest: a pod, or what is wrong. */
export type Judgement =
  | { readonly pod: Pod; readonly hash: string; readonly warnings: readonly string[] }
  | { readonly faults: readonly Fault[] };

export interface Manifest {
  /** The name of the file; it is part of the pod's hash, so that two equal files make two pods. */
  file: string;
  bytes: Uint8Array;
}

export interface JudgeOptions {
  nodeName: string;
  readYaml: YamlReader;
}

/** How many faults of one file are reported. */
const maxFaults = 20;
/** How many characters of one fault are reported: it may quote a value. */
const maxFaultLength = 500;

/**
 * Judges a manifest: one Pod of v1, decoded strictly, with what the reference adds (the node's name after its own, its
 * annotations, the toleration that keeps it on the node). The annotation of when it was first seen is not set yet.
 */
export function judgeManifest(manifest: Manifest, options: JudgeOptions): Judgement {
  try {
    return judge(manifest, options);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { cause, message } = error;
    return { faults: [{ field: '', message: truncate(cause instanceof Error ? cause.message : message) }] };
  }
}

function judge({ file, bytes }: Manifest, { nodeName, readYaml }: JudgeOptions): Judgement {
  const body: TextBody =
    extname(file) === '.json' ? { encoding: 'json', bytes } : { encoding: 'yaml', bytes, read: readYaml };
  const { value, duplicates } = parseText(body);
  const typeCauses = findTypeCauses(value);
  if (typeCauses.length > 0) return { faults: toFaults(typeCauses) };
  const hash = computeHash(value, `host:${nodeName}file:${file}`);
  const { object, complaints } = decodeValue(withoutValues, 'v1', value);
  const strict = [...complaints, ...formatComplaints('duplicate', duplicates)];
  const own = findManifestCauses(object);
  const pod = podKind.default(toStaticPod(object, nodeName, hash));
  const causes = [...own, ...findPodCauses(pod)];
  if (strict.length + causes.length > 0) {
    const syntaxFaults = strict.map((message) => ({ field: '', message: truncate(message) }));
    return { faults: [...syntaxFaults, ...toFaults(causes)].slice(0, maxFaults) };
  }
  const nodeNameInFile = object.spec?.nodeName;
  const elsewhere =
    nodeNameInFile === undefined || nodeNameInFile === '' || nodeNameInFile === nodeName
      ? []
      : [describeReplacedNode(nodeNameInFile, nodeName)];
  return { pod, hash, warnings: [...elsewhere, ...podKind.warnings(pod, undefined)] };
}

/** Faults must not quote misplaced values: they are logged, and such a value may be a password without its quotes. */
const withoutValues = { ...podKind, sensitive: true } as const;

const describeReplacedNode = (nodeNameInFile: string, nodeName: string) =>
  `spec.nodeName: ${JSON.stringify(nodeNameInFile)} is replaced by the name of this node, ${JSON.stringify(nodeName)}`;

function toFaults(causes: readonly Cause[]): Fault[] {
  return causes
    .slice(0, maxFaults)
    .map(({ field, message }) => ({ field: truncate(field), message: truncate(message) }));
}

function truncate(text: string): string {
  return text.length > maxFaultLength ? `${text.slice(0, maxFaultLength)}…` : text;
}

/** A manifest has to name its type. */
function findTypeCauses(value: unknown): Cause[] {
  if (value === null) return [requiredValue('kind', 'the file is empty')];
  const { apiVersion, kind } = isRecord(value) ? value : {};
  return [
    ...(apiVersion === 'v1' ? [] : [unsupportedValue('apiVersion', apiVersion ?? '', ['v1'])]),
    ...(kind === 'Pod' ? [] : [unsupportedValue('kind', kind ?? '', ['Pod'])]),
  ];
}

const uidRule =
  "it may have 128 letters, digits, '-', '_' and '.', of which the first is a letter or a digit: it names files and a cgroup";

/** Fields that have no meaning, or another one, in a manifest. */
function findManifestCauses({ metadata = {} }: Pod): Cause[] {
  const { name, uid = '', finalizers = [], ownerReferences = [], annotations = {} } = metadata;
  const forbid = (field: string, detail: string) => [forbiddenValue(`metadata.${field}`, detail)];
  return [
    ...(name ? [] : [requiredValue('metadata.name')]),
    ...(uid === '' || isPodUid(uid) ? [] : [invalidValue('metadata.uid', uid, uidRule)]),
    ...(finalizers.length > 0 ? forbid('finalizers', 'a static pod ends with its manifest') : []),
    ...(ownerReferences.length > 0 ? forbid('ownerReferences', 'a static pod belongs to its node') : []),
    ...(annotations[mirrorAnnotation] === undefined
      ? []
      : forbid(`annotations[${mirrorAnnotation}]`, 'it marks what the node makes of a static pod')),
  ];
}

function findPodCauses(pod: Pod): Cause[] {
  // a missing name is reported by findManifestCauses, not here: toStaticPod has filled it in
  const causes = [...validateMetadata(podKind, pod, undefined), ...findMissingFields(podKind.root, pod)];
  return [...(causes.length > 0 ? causes : podKind.validate(pod, undefined)), ...findReferenceCauses(pod)];
}

/** As in the reference: a static pod stays on its node whatever taints the node gets. */
const tolerateAll = { operator: 'Exists', effect: 'NoExecute' };

function toStaticPod({ metadata = {}, spec }: Pod, nodeName: string, hash: string): Pod {
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
      : { spec: { ...spec, nodeName, tolerations: [...(spec.tolerations ?? []), tolerateAll] } }),
  };
}

/** Returns the pod with the annotation of when it was first seen with this content. */
export function withFirstObserved(pod: Pod, time: string): Pod {
  const annotations = { ...pod.metadata?.annotations, [firstObservedAnnotation]: time };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** A hash of the content in 32 hexadecimal digits; the order of keys does not matter. */
function computeHash(value: unknown, salt: string): string {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
  return createHash('sha256').update(text).update(salt).digest('hex').slice(0, 32);
}
