import type { PersistentVolumeClaim, Pod } from '../../api/index.ts';
import { persistentVolumeClaimKind, podKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { createEventRecorder } from './event-recorder.ts';
import { findReadable, isUnreadable } from './presence.ts';
import { claimNameFor, isMadeFor } from './volume-protection.ts';

const context = { user: controlPlaneUser, dryRun: false };

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/**
 * Makes the claim of each ephemeral volume of a pod, `POD-VOLUME`, which the pod owns and which goes with it; as in the
 * reference. A claim of that name which was not made for the pod is left alone, and an Event of the pod says so.
 */
export function ephemeralVolumes(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const pods = registry.of(podKind);
  const claims = registry.of(persistentVolumeClaimKind);

  function read(key: string): Pod | undefined {
    const stored = findReadable(storage, key);
    return stored && pods.encoding.read(stored);
  }

  /** Makes the claim unless it is there; throws when it is another's, or cannot be made. */
  async function provide(pod: Pod, { name, ephemeral }: Volume): Promise<void> {
    const template = ephemeral?.volumeClaimTemplate;
    if (template === undefined) return;
    const namespace = pod.metadata?.namespace ?? '';
    const claimName = claimNameFor(pod, name);
    const key = claims.prefix(namespace) + claimName;
    if (isUnreadable(storage, key)) throw new Error(`PVC ${namespace}/${claimName} cannot be read`);
    const stored = findReadable(storage, key);
    if (stored !== undefined) return checkOwner(claims.encoding.read(stored), pod);
    const { labels, annotations } = template.metadata ?? {};
    const metadata = {
      name: claimName,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownedBy(pod)],
    };
    try {
      await claims.create(namespace, { metadata, spec: structuredClone(template.spec) }, context);
    } catch (error) {
      throw new Error(`create PVC ${claimName}: ${describeError(error)}`, { cause: error });
    }
  }

  return controller('ephemeral-volumes', options, (enqueue) => {
    const recorder = createEventRecorder(options);

    async function work(key: string): Promise<void> {
      const pod = read(key);
      if (pod === undefined || pod.metadata?.deletionTimestamp !== undefined) return;
      for (const volume of pod.spec?.volumes ?? []) {
        try {
          await provide(pod, volume);
        } catch (error) {
          if (isGoing(error)) return;
          report(pod, `ephemeral volume ${volume.name}: ${describeError(error)}`);
          throw error;
        }
      }
    }

    function report({ metadata: { namespace = '', name = '', uid = '' } = {} }: Pod, message: string): void {
      const happening = { type: 'Warning', reason: 'FailedBinding', message } as const;
      recorder.record('ephemeral_volume', { kind: 'Pod', namespace, name, uid }, happening);
    }

    const written = (stored: Stored) => {
      if (mayHaveEphemeral(stored)) enqueue(stored.key);
    };
    return {
      follows: [
        { resource: pods, present: written, added: written },
        {
          resource: claims,
          gone(stored) {
            const { metadata } = claims.encoding.read(stored);
            const owner = metadata?.ownerReferences?.find(({ controller: isIt }) => isIt);
            if (owner?.kind === 'Pod') enqueue(pods.prefix(metadata?.namespace ?? '') + owner.name);
          },
        },
      ],
      work,
      beside: (signal) => [recorder.run(signal)],
    };
  });
}

/** Most pods have none, and are not parsed. */
function mayHaveEphemeral({ value }: Stored): boolean {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes('"volumeClaimTemplate":');
}

function checkOwner(claim: PersistentVolumeClaim, pod: Pod): void {
  if (isMadeFor(claim, pod)) return;
  const nameOf = ({ metadata }: Pod | PersistentVolumeClaim) => `${metadata?.namespace}/${metadata?.name}`;
  throw new Error(`PVC ${nameOf(claim)} was not created for pod ${nameOf(pod)} (pod is not owner)`);
}

function ownedBy({ metadata: { name = '', uid = '' } = {} }: Pod) {
  return { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true };
}

/** Whether nothing can be made because the namespace is going. */
function isGoing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const causes = cause instanceof StatusError ? cause.details?.causes : undefined;
  return Boolean(causes?.some(({ reason }) => reason === 'NamespaceTerminating'));
}
