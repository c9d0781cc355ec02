import type { PersistentVolumeClaim } from '../../../api/index.ts';
import { persistentVolumeClaimKind, persistentVolumeKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { BoundedMap, describeError, withDeadline } from '../../../base/index.ts';
import { namespaceOf } from '../../downward/index.ts';
import type { Happening } from '../../node/events/index.ts';
import type { CsiVolumes } from '../csi/csi-volumes.ts';
import { uniqueName } from '../csi/paths.ts';
import type { RoundsOptions } from '../csi/rounds.ts';
import { VolumeRounds } from '../csi/rounds.ts';
import { DriverError } from '../csi/types.ts';
import type { CsiVolume } from '../csi/volume.ts';
import type { NodeStorage, StorageReader } from '../storage.ts';
import { VolumeError } from '../volume-error.ts';
import type { StatusChange } from './claim-size.ts';
import { begun, bytesOf, expansionOf, failed, finished, isForNode } from './claim-size.ts';
import type { ClaimedVolume } from './resolve.ts';

export interface VolumeGrowthOptions extends RoundsOptions {
  readonly storage: NodeStorage;
  readonly reader: StorageReader;
  readonly csi: Pick<CsiVolumes, 'expand'>;
  /** Reports an Event about a claim. */
  reportClaim(claim: PersistentVolumeClaim, happening: Happening): void;
  readonly clock: Clock;
}

/** A volume of a driver, and the claim in the namespace of its pod. */
export interface GrowingVolume {
  readonly csi: CsiVolume;
  readonly claim: Pick<ClaimedVolume, 'claimName' | 'sizeBytes' | 'claimBytes'>;
}

const patchTimeoutMs = 10_000;
const maxVolumes = 10_000;
/** With these a driver says that the volume cannot become so large. */
const infeasible = new Set(['InvalidArgument', 'OutOfRange', 'NotFound']);
/** And with this one, that it cannot while it is in use. */
const inUse = 'FailedPrecondition';
const expandFailed = 'Expander.NodeExpand failed to expand the volume';

/**
 * Has drivers make volumes larger on this node once their PersistentVolumes say a size that their claims do not have yet, and says
 * so in the claims. What happens to one volume is the driver's one thing at a time; done again it does no harm.
 */
export class VolumeGrowth {
  readonly #options: VolumeGrowthOptions;
  readonly #rounds: VolumeRounds;
  /** By unique name: the size that a volume has on this node, as far as this process knows. */
  readonly #sizes = new BoundedMap<string, bigint>({ maxEntries: maxVolumes });
  /** The size that a volume cannot get while it is in use. */
  readonly #refused = new BoundedMap<string, bigint>({ maxEntries: maxVolumes });

  constructor(options: VolumeGrowthOptions) {
    this.#options = options;
    const step = 'NodeExpandVolume.NodeExpandVolume';
    this.#rounds = new VolumeRounds(options, { reason: 'VolumeResizeFailed', step });
  }

  /** Before a pod has it; `volume` was read just now. */
  async begin(volume: GrowingVolume, signal: AbortSignal): Promise<void> {
    const name = uniqueName(volume.csi);
    const { sizeBytes = 0n, claimBytes = sizeBytes } = volume.claim;
    this.#refused.delete(name);
    if (this.#sizes.get(name) === undefined && sizeBytes <= claimBytes)
      return void this.#sizes.set(name, sizeBytes);
    try {
      await this.#grow(volume, signal);
    } catch (cause) {
      if (cause instanceof DriverError && cause.code === inUse) return; // it can be used as it is
      const options = { step: 'MountVolume.NodeExpandVolume', cause };
      throw new VolumeError(describeError(cause), options);
    }
  }

  /** Looks again and again whether it has grown; `find` says what it is now. */
  keep(
    volume: Pick<CsiVolume, 'pod' | 'uid' | 'inPod' | 'driver'>,
    find: (signal: AbortSignal) => Promise<GrowingVolume>,
  ): void {
    const { pod, uid, inPod, driver } = volume;
    const visit = async (signal: AbortSignal) => {
      const able = this.#options.storage.drivers.driver(driver);
      const isAble = (await able?.abilities(signal))?.has('expand') === true;
      if (isAble) await this.#grow(await find(signal), signal);
      return able === undefined || isAble;
    };
    this.#rounds.add({ pod, uid, inPod, driver, visit });
  }

  /** Those of the pod are not looked at any more. */
  forget(uid: string): void {
    this.#rounds.forget(uid);
  }

  close(): void {
    this.#rounds.close();
  }

  async #grow(volume: GrowingVolume, signal: AbortSignal): Promise<void> {
    const { csi } = volume;
    const { reader, storage } = this.#options;
    const abilities = await storage.drivers.driver(csi.driver)?.abilities(signal);
    if (csi.isReadOnly || abilities?.has('expand') !== true) return;
    const { spec } = await reader.get(persistentVolumeKind, csi.name, signal);
    const size = spec?.capacity?.['storage'];
    const bytes = bytesOf(size);
    const name = uniqueName(csi);
    if (size === undefined || bytes === undefined || bytes <= (this.#sizes.get(name) ?? 0n)) return;
    if (this.#refused.get(name) === bytes) return;
    const claim = await reader.get(
      persistentVolumeClaimKind,
      volume.claim.claimName,
      signal,
      namespaceOf(csi.pod),
    );
    const had = bytesOf(claim.status?.capacity?.['storage']) ?? bytes;
    const isSaid = had >= bytes && expansionOf(claim) === '';
    if (isSaid && this.#sizes.get(name) === undefined) return void this.#sizes.set(name, bytes);
    if (!isSaid && !isForNode(expansionOf(claim))) return;
    const now = isSaid ? claim : await this.#change(claim, begun(), signal);
    if (!(await this.#expand(csi, bytes, now, signal))) return;
    this.#reportSuccess(csi, now);
    if (!isSaid) await this.#finish(now, size, signal);
    this.#sizes.set(name, bytes);
  }

  async #expand(
    csi: CsiVolume,
    bytes: bigint,
    claim: PersistentVolumeClaim,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      return await this.#options.csi.expand(csi, bytes, signal);
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      const { isFinal, code, message } = error;
      const failure = new DriverError(`${expandFailed}: ${message}`, isFinal, { code, cause: error });
      if (code === inUse) this.#refused.set(uniqueName(csi), bytes);
      else if (isFinal) {
        const change = failed(claim, failure.message, infeasible.has(code), this.#options.clock.now());
        await this.#change(claim, change, signal).catch(() => undefined); // the driver's own words count
      }
      throw failure;
    }
  }

  async #finish(claim: PersistentVolumeClaim, size: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#change(claim, finished(claim, size), signal);
    } catch (error) {
      const message = `mountVolume.NodeExpandVolume update pvc status failed: ${describeError(error)}`;
      throw new Error(message, { cause: error });
    }
  }

  /** Rejects where the claim has changed since it was read. */
  async #change(
    claim: PersistentVolumeClaim,
    status: StatusChange,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    const { storage, clock } = this.#options;
    const { api } = storage;
    const { name = '', namespace = '', resourceVersion } = claim.metadata ?? {};
    if (api === undefined) throw new Error('this node has no API: it stands alone');
    const limits = { clock, timeoutMs: patchTimeoutMs, signal };
    const change = { metadata: { resourceVersion }, status };
    return await withDeadline(limits, `the API server (patch persistentvolumeclaims ${name})`, (cancel) =>
      api.patch(persistentVolumeClaimKind, name, change, {
        ...{ namespace, subresource: 'status', as: 'merge' },
        signal: cancel,
      }),
    );
  }

  #reportSuccess({ pod, name }: CsiVolume, claim: PersistentVolumeClaim): void {
    const { report, reportClaim, storage } = this.#options;
    const happening: Happening = {
      type: 'Normal',
      reason: 'FileSystemResizeSuccessful',
      message: `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(name)} ${storage.nodeName}`,
    };
    report(pod, happening);
    reportClaim(claim, happening);
  }
}
