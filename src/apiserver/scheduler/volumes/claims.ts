import { billionths, matchesTerms, requestedSize, selectsLabels } from '../../../api/index.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod, PodFacts } from '../cluster/pod-facts.ts';
import type { Claim, Volume, VolumeLookup } from './lookup.ts';
import { classOf, isBound } from './lookup.ts';

/** The claims of a pod, by what is still to be done for them. */
export interface PodClaims {
  readonly bound: readonly { readonly claim: Claim; readonly volume: Volume }[];
  /** Those whose volume is chosen, or made, once the node is. */
  readonly open: readonly OpenClaim[];
  /** Whether the volume of a bound claim is not there. */
  readonly isVolumeGone: boolean;
}

export interface OpenClaim {
  readonly claim: Claim;
  /** Undefined: volumes of the class are not made, only found. */
  readonly provisioner: string | undefined;
}

/** A volume that is chosen for a claim, or what says on which node one is to be made. */
export type ClaimChoice =
  | { readonly claim: Claim; readonly volume: Volume }
  | { readonly claim: Claim; readonly provisionOn: string };

const staticProvisioner = 'kubernetes.io/no-provisioner';
const isEphemeralOf = (claim: Claim, { uid }: PodFacts) =>
  claim.metadata?.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;

/** Returns in the reference's words why the pod can run nowhere. */
export function readClaims(pod: PendingPod, lookup: VolumeLookup): PodClaims | { readonly refusal: string } {
  const bound: { claim: Claim; volume: Volume }[] = [];
  const open: OpenClaim[] = [];
  const ephemeral = new Set(
    (pod.pod.spec?.volumes ?? [])
      .filter((each) => each.ephemeral !== undefined)
      .map((each) => `${pod.name}-${each.name}`),
  );
  let [isUnbound, isVolumeGone] = [false, false];
  for (const name of pod.claims) {
    const claim = lookup.claim(pod.namespace, name);
    if (claim === undefined)
      return {
        refusal: ephemeral.has(name)
          ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${JSON.stringify(name)}`
          : `persistentvolumeclaim ${JSON.stringify(name)} not found`,
      };
    if (claim.metadata?.deletionTimestamp !== undefined)
      return { refusal: `persistentvolumeclaim ${JSON.stringify(name)} is being deleted` };
    if (ephemeral.has(name) && !isEphemeralOf(claim, pod))
      return {
        refusal: `PVC ${pod.namespace}/${name} was not created for pod ${pod.key} (pod is not owner)`,
      };
    if (claim.status?.phase === 'Lost')
      return {
        refusal: `persistentvolumeclaim ${JSON.stringify(name)} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`,
      };
    if (isBound(claim)) {
      const volume = lookup.volume(claim.spec?.volumeName ?? '');
      if (volume === undefined) isVolumeGone = true;
      else bound.push({ claim, volume });
      continue;
    }
    const storageClass = lookup.storageClass(classOf(claim));
    const waits = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && !claim.spec?.volumeName;
    if (!waits) isUnbound = true;
    else open.push({ claim, provisioner: provisionerOf(storageClass?.provisioner) });
  }
  return isUnbound
    ? { refusal: 'pod has unbound immediate PersistentVolumeClaims' }
    : { bound, open, isVolumeGone };
}

const provisionerOf = (name: string | undefined) => (name === staticProvisioner ? undefined : name);

/** Whether a node reaches a volume. */
export function reaches({ facts }: NodeState, { spec }: Volume): boolean {
  const required = spec?.nodeAffinity?.required;
  return required === undefined || matchesTerms(required.nodeSelectorTerms, facts);
}

/** A volume of its own for each claim, the smallest that is large enough; undefined where there is none on the node. */
export function chooseVolumes(
  open: readonly OpenClaim[],
  node: NodeState,
  lookup: VolumeLookup,
): readonly ClaimChoice[] | 'no volume' {
  const chosen = new Set<string>();
  const choices: ClaimChoice[] = [];
  const bySize = open.toSorted((a, b) => Number(sizeOf(a.claim) - sizeOf(b.claim)));
  for (const { claim, provisioner } of bySize) {
    const selected = lookup.chosenNode(claim);
    if (selected !== undefined) {
      if (selected !== node.name) return 'no volume'; // it is being made on another one
      choices.push({ claim, provisionOn: selected });
      continue;
    }
    const volume = findVolume(claim, node, lookup, (name) => chosen.has(name));
    if (volume !== undefined) {
      chosen.add(volume.metadata?.name ?? '');
      choices.push({ claim, volume });
    } else if (provisioner !== undefined && isAllowed(claim, node, lookup)) {
      choices.push({ claim, provisionOn: node.name });
    } else return 'no volume';
  }
  return choices;
}

const sizeOf = ({ spec }: Claim) => (spec === undefined ? 0n : requestedSize(spec));
const capacityOf = ({ spec }: Volume) => billionths(spec?.capacity?.['storage'] ?? '0');

function findVolume(
  claim: Claim,
  node: NodeState,
  lookup: VolumeLookup,
  isTaken: (volume: string) => boolean,
): Volume | undefined {
  let best: Volume | undefined;
  for (const volume of lookup.volumes()) {
    const kept = isKeptFor(volume, claim, lookup);
    if (kept === 'another' || isTaken(volume.metadata?.name ?? '')) continue;
    if (!isFit(volume, claim) || !reaches(node, volume)) continue;
    if (kept === 'this') return volume;
    if (best === undefined || capacityOf(volume) < capacityOf(best)) best = volume;
  }
  return best;
}

/** By what it says, or because it has been chosen for a claim of a pod that is being bound. */
function isKeptFor(
  { metadata: own, spec }: Volume,
  { metadata }: Claim,
  lookup: VolumeLookup,
): 'this' | 'another' | 'none' {
  const chosenFor = lookup.chosenFor(own?.name ?? '');
  if (chosenFor !== undefined) return chosenFor.metadata?.uid === metadata?.uid ? 'this' : 'another';
  const { claimRef } = spec ?? {};
  if (claimRef === undefined) return 'none';
  const isSame = claimRef.name === metadata?.name && claimRef.namespace === metadata?.namespace;
  return isSame && (!claimRef.uid || claimRef.uid === metadata?.uid) ? 'this' : 'another';
}

function isFit(volume: Volume, claim: Claim): boolean {
  const { metadata, spec, status } = volume;
  const isUsable =
    metadata?.deletionTimestamp === undefined && (status?.phase ?? 'Available') === 'Available';
  const modes = claim.spec?.accessModes ?? [];
  const { selector, volumeMode = 'Filesystem' } = claim.spec ?? {};
  return (
    isUsable &&
    classOf(volume) === classOf(claim) &&
    (spec?.volumeMode ?? 'Filesystem') === volumeMode &&
    modes.every((mode) => spec?.accessModes?.includes(mode)) &&
    (selector === undefined || selectsLabels(selector, metadata?.labels ?? {})) &&
    capacityOf(volume) >= sizeOf(claim)
  );
}

/** Whether the class lets a volume be made where the node is. */
function isAllowed(claim: Claim, { facts }: NodeState, lookup: VolumeLookup): boolean {
  if (claim.spec?.selector !== undefined) return false; // only volumes that are there have labels
  const terms = lookup.storageClass(classOf(claim))?.allowedTopologies ?? [];
  return (
    terms.length === 0 ||
    terms.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(facts.labels[key] ?? '')),
    )
  );
}
