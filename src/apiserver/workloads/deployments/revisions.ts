import type { Deployment, ReplicaSet } from '../../../api/index.ts';
import type { Workload } from '../pod-control.ts';
import { hashOf } from '../template-hash.ts';
import type { SetFacts } from './sets.ts';
import { hashLabel, limitsOf, replicasOf } from './sets.ts';

/*
 * The revisions of a Deployment are its ReplicaSets, numbered by an annotation. One that is taken up again gets the highest
 * number, and keeps those that it had before in another annotation. kubectl reads both.
 */

const domain = 'deployment.kubernetes.io';
export const revisionAnnotation = `${domain}/revision`;
const earlierAnnotation = `${domain}/revision-history`;
const desiredAnnotation = `${domain}/desired-replicas`;
const maxAnnotation = `${domain}/max-replicas`;

/** What stands for the Deployment itself and means nothing on a ReplicaSet. */
const ownAnnotations: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  ...[revisionAnnotation, earlierAnnotation, desiredAnnotation, maxAnnotation],
]);

const maxEarlierLength = 2000;
const maxNameLength = 253;

type Annotations = Readonly<Record<string, string>>;

/** 0: it has none. */
export function revisionOf({ metadata }: ReplicaSet): number {
  return wholeNumber(metadata?.annotations?.[revisionAnnotation]) ?? 0;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The number of the current revision: above all others. */
export function nextRevision(old: readonly SetFacts[]): number {
  return Math.max(0, ...old.map(({ set }) => revisionOf(set))) + 1;
}

/** What the current ReplicaSet carries: the annotations of the Deployment, and its number. */
export function withRevision(
  deployment: Deployment,
  annotations: Annotations,
  revision: number,
): Annotations {
  const carried = Object.entries(deployment.metadata?.annotations ?? {}).filter(
    ([key]) => !ownAnnotations.has(key),
  );
  const next: Record<string, string> = { ...annotations, ...Object.fromEntries(carried) };
  const before = annotations[revisionAnnotation];
  const beforeNumber = wholeNumber(before) ?? 0;
  if (beforeNumber >= revision) return next; // others with higher numbers were deleted meanwhile
  next[revisionAnnotation] = String(revision);
  if (before !== undefined)
    next[earlierAnnotation] = withEarlier(annotations[earlierAnnotation] ?? '', before);
  return next;
}

/** The oldest give way when there are too many. */
function withEarlier(earlier: string, revision: string): string {
  const revisions = [...(earlier === '' ? [] : earlier.split(',')), revision];
  while (revisions.length > 1 && revisions.join(',').length > maxEarlierLength) revisions.shift();
  return revisions.join(',');
}

/** With the size of the Deployment that a ReplicaSet was scaled for: so a later change of it is known. */
export function withSize(deployment: Deployment, annotations: Annotations): Annotations {
  const replicas = replicasOf(deployment);
  const most = replicas + limitsOf(deployment).maxSurge;
  return { ...annotations, [desiredAnnotation]: String(replicas), [maxAnnotation]: String(most) };
}

/** The size of the Deployment that a ReplicaSet was scaled for. */
export function sizeOf({ metadata }: ReplicaSet): { desired: number | undefined; max: number | undefined } {
  const { [desiredAnnotation]: desired, [maxAnnotation]: max } = metadata?.annotations ?? {};
  return { desired: wholeNumber(desired), max: wholeNumber(max) };
}

/** The ReplicaSet of the present template. */
export function draftSet(
  deployment: Deployment,
  { reference, namespace }: Workload,
  { revision, replicas }: { revision: number; replicas: number },
): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec ?? { selector: {}, template: {} };
  const hash = hashOf(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const matchLabels = { ...selector.matchLabels, [hashLabel]: hash };
  const name = `${reference.name.slice(0, maxNameLength - hash.length - 1)}-${hash}`;
  const annotations = withSize(deployment, withRevision(deployment, {}, revision));
  return {
    metadata: { name, namespace, labels, annotations: { ...annotations }, ownerReferences: [reference] },
    spec: {
      replicas,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels },
      template: { ...structuredClone(template), metadata: { ...template.metadata, labels } },
    },
  };
}
