import type { PersistentVolumeClaim, Pod } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { Happening } from '../node/events/index.ts';
import type { PodObjects } from '../objects/index.ts';
import type { PodTokens } from '../tokens/index.ts';
import type { UsedClaim } from './claims/claim-usage.ts';
import { ClaimUsage } from './claims/claim-usage.ts';
import { ClaimedVolumes } from './claims/claimed-volumes.ts';
import { VolumeGrowth } from './claims/growth.ts';
import { LocalDevices } from './claims/local-devices.ts';
import type { LocalTools } from './claims/local-volume.ts';
import { localPlugin } from './claims/local-volume.ts';
import { CsiVolumes } from './csi/csi-volumes.ts';
import { inlineCsiVolume } from './csi/volume.ts';
import type { VolumeLeft } from './keep-releasing.ts';
import type { VolumeKeeper } from './kinds/types.ts';
import { giveToPod } from './ownership.ts';
import type { NodeStorage } from './storage.ts';
import { StorageReader } from './storage.ts';

export interface PersistentOptions extends LocalTools {
  readonly storage: NodeStorage;
  readonly objects: PodObjects;
  readonly tokens: PodTokens;
  /** Reports an Event about a pod. */
  report(pod: Pod, happening: Happening): void;
  /** The same, about a claim. */
  reportClaim(claim: PersistentVolumeClaim, happening: Happening): void;
  /** Between two looks at a volume that is in use; default one minute. */
  readonly lookMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The volumes that outlive pods, and those that drivers make for one pod. */
export interface PersistentVolumes {
  readonly csi: CsiVolumes;
  readonly claimed: ClaimedVolumes;
  /** Those that a driver makes for one pod. */
  readonly inline: VolumeKeeper;
  /** Forgets what is known of a pod; what is set up stays. */
  release(uid: string): void;
  /** Gives back what no pod has. To be called once it is known which pods there are. */
  sweep(): Promise<void>;
  /** The same, as far as it is known without that. */
  releaseUnused(): Promise<void>;
  /** What could not be given back yet. */
  left(): VolumeLeft[];
  /** How full the volumes of claims are. */
  used(): UsedClaim[];
  close(): void;
}

export function createPersistentVolumes(options: PersistentOptions): PersistentVolumes {
  const { storage, clock } = options;
  const give = async ({ pod }: { readonly pod: Pod }, path: string, signal: AbortSignal) =>
    await giveToPod(pod, path, options, signal);
  const csi = new CsiVolumes({ ...options, giveToGroup: give });
  const reader = new StorageReader(storage, clock);
  const devices = new LocalDevices({ ...options, plugin: localPlugin });
  const growth = new VolumeGrowth({ ...options, reader, csi });
  const usage = new ClaimUsage(options);
  const claimed = new ClaimedVolumes({
    ...{ ...options, reader, csi, devices, growth, usage },
    giveToGroup: give,
  });
  return {
    csi,
    claimed,
    inline: {
      setUp: (volume, signal) => csi.publish(inlineCsiVolume(volume), signal),
      pathOf: ({ uid, name }) => csi.pathOf({ uid, name, isBlock: false }),
    },
    release(uid) {
      claimed.release(uid);
      csi.forget(uid);
      growth.forget(uid);
      usage.forget(uid);
    },
    async sweep() {
      await devices.releaseUnused();
      await csi.sweep();
    },
    releaseUnused: () => devices.releaseUnused(),
    left: () => [...csi.left(), ...devices.left()],
    used: () => usage.list(),
    close() {
      csi.close();
      growth.close();
      usage.close();
      devices.close();
    },
  };
}
