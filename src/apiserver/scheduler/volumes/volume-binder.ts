import type { ObjectMeta, PersistentVolume } from '../../../api/index.ts';
import { persistentVolumeClaimKind, persistentVolumeKind } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { ControllerOptions } from '../../controllers/index.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod } from '../cluster/pod-facts.ts';
import type { ClaimChoice } from './claims.ts';
import { chooseVolumes, readClaims } from './claims.ts';
import type { Claim, VolumeLookup } from './lookup.ts';
import { isBound, selectedNodeAnnotation } from './lookup.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** As in the reference: so long the volume controller and the drivers may take. */
const bindTimeoutMs = 600_000;
const lookEveryMs = 500;

/** That the reference to the claim was not in the volume from the start. */
const boundByController = 'pv.kubernetes.io/bound-by-controller';

/**
 * Chooses volumes for claims that wait for the node of their pod, and waits until others have bound them: the volume
 * controller, and the drivers that make volumes.
 */
export class VolumeBinder {
  readonly #options: ControllerOptions;
  readonly #lookup: VolumeLookup;
  /** By the uid of the pod, until it is bound. */
  readonly #choices = new Map<string, readonly ClaimChoice[]>();

  constructor(options: ControllerOptions, lookup: VolumeLookup) {
    this.#options = options;
    this.#lookup = lookup;
  }

  /** The claim that a volume has been chosen for. */
  chosenFor(volume: string): Claim | undefined {
    return this.#find((choice) => 'volume' in choice && choice.volume.metadata?.name === volume)?.claim;
  }

  /** The node on which a volume is being made for a claim. */
  chosenNode({ metadata }: Claim): string | undefined {
    const choice = this.#find(({ claim }) => claim.metadata?.uid === metadata?.uid);
    if (choice !== undefined) return 'provisionOn' in choice ? choice.provisionOn : undefined;
    return metadata?.annotations?.[selectedNodeAnnotation];
  }

  #find(isMeant: (choice: ClaimChoice) => boolean): ClaimChoice | undefined {
    for (const choices of this.#choices.values()) {
      const found = choices.find(isMeant);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Chooses in the step in which the pod is assigned, so that no other pod is given the same; returns whether there is anything. */
  choose(pod: PendingPod, node: NodeState): boolean {
    if (pod.claims.length === 0) return false;
    const claims = readClaims(pod, this.#lookup);
    if ('refusal' in claims || claims.open.length === 0) return false;
    const choices = chooseVolumes(claims.open, node, this.#lookup);
    if (choices === 'no volume') return false;
    this.#choices.set(pod.uid, choices);
    return true;
  }

  release({ uid }: PendingPod): void {
    this.#choices.delete(uid);
  }

  /** Rejects when a claim is not bound in time, `isWanted` no longer holds, or `signal` aborts. */
  async bind({ uid }: PendingPod, isWanted: () => boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const choices = this.#choices.get(uid) ?? [];
    for (const choice of choices) await this.#write(choice);
    const endMs = clock.monotonicMs() + bindTimeoutMs;
    while (choices.some(({ claim }) => !this.#isBound(claim))) {
      signal.throwIfAborted();
      if (!isWanted()) throw new Error('binding volumes: the pod or its node is gone');
      if (clock.monotonicMs() >= endMs) throw new Error(describeUnbound(choices));
      await clock.sleep(lookEveryMs, signal);
    }
  }

  async #write(choice: ClaimChoice): Promise<void> {
    const { registry } = this.#options;
    const { claim } = choice;
    const { namespace = '', name = '', uid = '' } = claim.metadata ?? {};
    if ('provisionOn' in choice) {
      const annotate = (metadata: ObjectMeta): ObjectMeta => ({
        ...metadata,
        annotations: { ...metadata.annotations, [selectedNodeAnnotation]: choice.provisionOn },
      });
      await registry
        .of(persistentVolumeClaimKind)
        .changeMetadata({ namespace, name }, uid, annotate, context);
      return;
    }
    const place = { namespace: '', name: choice.volume.metadata?.name ?? '' };
    const make = (volume: PersistentVolume) => keptFor(volume, claim);
    await registry.of(persistentVolumeKind).change(place, { make, operation: 'Update' }, '', context);
  }

  #isBound({ metadata }: Claim): boolean {
    const now = this.#lookup.claim(metadata?.namespace ?? '', metadata?.name ?? '');
    return now !== undefined && now.metadata?.uid === metadata?.uid && isBound(now);
  }
}

function describeUnbound(choices: readonly ClaimChoice[]): string {
  const names = choices.map(({ claim }) => JSON.stringify(claim.metadata?.name ?? '')).join(', ');
  return `binding volumes: no volume controller or driver has bound the claims ${names} within 10 minutes`;
}

/** Throws when it is kept for another claim by now. */
function keptFor(volume: PersistentVolume, { metadata }: Claim): PersistentVolume {
  const { claimRef } = volume.spec ?? {};
  const isOthers =
    claimRef !== undefined &&
    (claimRef.namespace !== metadata?.namespace || claimRef.name !== metadata?.name);
  if (isOthers) throw new Error(`volume ${volume.metadata?.name} was bound to another claim meanwhile`);
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  return {
    ...volume,
    metadata: {
      ...volume.metadata,
      annotations: {
        ...volume.metadata?.annotations,
        ...(claimRef === undefined ? { [boundByController]: 'yes' } : {}),
      },
    },
    spec: {
      ...volume.spec,
      claimRef: { ...claimRef, kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid },
    },
  };
}
