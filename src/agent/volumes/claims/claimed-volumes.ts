import { readlink, symlink, unlink } from 'node:fs/promises';
import { errorCode } from '../../../base/index.ts';
import type { CsiVolumes } from '../csi/csi-volumes.ts';
import { csiPlugin } from '../csi/paths.ts';
import { claimedCsiVolume } from '../csi/volume.ts';
import type { PodVolume } from '../kinds/types.ts';
import { isMountedAt } from '../mounter.ts';
import { devicesFolder } from '../place.ts';
import type { NodeStorage, StorageReader } from '../storage.ts';
import type { ClaimUsage } from './claim-usage.ts';
import type { GrowingVolume, VolumeGrowth } from './growth.ts';
import type { LocalDevices } from './local-devices.ts';
import type { LocalTools } from './local-volume.ts';
import { findLocalDevice, localPath, localPlugin, mountLocal } from './local-volume.ts';
import type { ClaimRecord } from './record.ts';
import { readClaimRecord, writeClaimRecord } from './record.ts';
import type { ClaimedVolume } from './resolve.ts';
import { resolveClaim } from './resolve.ts';

export interface ClaimedVolumesOptions extends LocalTools {
  readonly storage: NodeStorage;
  readonly reader: StorageReader;
  readonly csi: CsiVolumes;
  readonly devices: LocalDevices;
  readonly growth: VolumeGrowth;
  readonly usage: ClaimUsage;
  /** Gives the files of a volume to the group of its pod, if the pod has one. */
  giveToGroup(volume: PodVolume, path: string, signal: AbortSignal): Promise<void>;
}

/** The volumes behind the claims of pods: of drivers, or paths of this node. */
export class ClaimedVolumes {
  readonly #options: ClaimedVolumesOptions;
  /** By pod and volume: as found by this process. */
  readonly #resolved = new Map<string, ClaimedVolume>();
  readonly #records = new Map<string, ClaimRecord>();

  constructor(options: ClaimedVolumesOptions) {
    this.#options = options;
  }

  /** Sets one up unless that is done: what is there already after a start of the agent needs no API. */
  async setUp(volume: PodVolume, signal: AbortSignal): Promise<void> {
    const key = keyOf(volume);
    const known = this.#records.get(key);
    const found = known ?? (await readClaimRecord(this.#options.place, volume.uid, volume.name));
    if (found === undefined || !(await this.#isThere(volume.uid, found)))
      return await this.#setUp(volume, await this.#resolve(volume, signal), signal);
    this.#records.set(key, found);
    if (known !== undefined) return;
    if (!signal.aborted) this.#options.usage.keep(volume, found);
    if (found.driver !== undefined) this.#keep(volume, found.driver);
  }

  /** Of a folder: its path; of a device: the path of that. */
  async pathOf(volume: PodVolume): Promise<string> {
    const { place, csi } = this.#options;
    const record = await this.#recordOf(volume);
    if (record.isBlock) return await readlink(await this.#linkOf(volume.uid, record));
    return record.plugin === localPlugin
      ? await localPath(place, volume.uid, record.name)
      : await csi.pathOf({ uid: volume.uid, ...record });
  }

  /** The group that the processes of the pod get for it. */
  async groupOf(volume: PodVolume): Promise<number | undefined> {
    return (await this.#recordOf(volume)).group;
  }

  /** Forgets those of a pod. */
  release(uid: string): void {
    for (const map of [this.#resolved, this.#records])
      for (const key of map.keys()) if (key.startsWith(`${uid}/`)) map.delete(key);
  }

  /** Of what was set up by an agent before this one. */
  #keep(volume: PodVolume, driver: string): void {
    const { csi, growth } = this.#options;
    const { pod, uid, name: inPod } = volume;
    const find = async (signal: AbortSignal) => toGrowing(volume, await this.#resolve(volume, signal));
    csi.keepPublished({ pod, uid, inPod, driver }, async (signal) => (await find(signal)).csi);
    growth.keep({ pod, uid, inPod, driver }, find);
  }

  async #recordOf(volume: PodVolume): Promise<ClaimRecord> {
    const record = this.#records.get(keyOf(volume));
    if (record === undefined) throw new Error(`volume ${volume.name} is not set up yet`);
    return record;
  }

  async #resolve(volume: PodVolume, signal: AbortSignal): Promise<ClaimedVolume> {
    const known = this.#resolved.get(keyOf(volume));
    if (known !== undefined) return known;
    const claimed = await resolveClaim(volume, this.#options, signal);
    const { csi, local } = claimed.spec;
    if (csi === undefined && local === undefined)
      throw new Error(
        `PersistentVolume ${claimed.name} is of a kind that this agent does not mount: it mounts csi and local`,
      );
    this.#resolved.set(keyOf(volume), claimed);
    return claimed;
  }

  async #setUp(volume: PodVolume, claimed: ClaimedVolume, signal: AbortSignal): Promise<void> {
    const { csi, place, tools } = this.#options;
    const { name, isBlock, group, spec } = claimed;
    const plugin = spec.csi === undefined ? localPlugin : csiPlugin;
    const record = { name, isBlock, group, plugin, driver: spec.csi?.driver };
    if (spec.csi !== undefined) {
      await this.#publish(toGrowing(volume, claimed), signal);
      if (isBlock) await this.#link(volume.uid, record, await csi.pathOf({ uid: volume.uid, ...record }));
    } else if (isBlock) await this.#link(volume.uid, record, await findLocalDevice(claimed, tools));
    else await this.#mountLocal(volume, claimed, signal);
    if (!this.#records.has(keyOf(volume))) await writeClaimRecord(place, volume.uid, volume.name, record);
    this.#records.set(keyOf(volume), record);
    if (!signal.aborted) this.#options.usage.keep(volume, record); // otherwise its pod has gone meanwhile
  }

  async #publish(volume: GrowingVolume, signal: AbortSignal): Promise<void> {
    const { csi, growth } = this.#options;
    await csi.publish(volume.csi, signal);
    await growth.begin(volume, signal);
    growth.keep(volume.csi, async () => volume);
  }

  async #mountLocal(volume: PodVolume, claimed: ClaimedVolume, signal: AbortSignal): Promise<void> {
    const isReadOnly = volume.source.persistentVolumeClaim?.readOnly === true;
    await mountLocal(volume.uid, claimed, isReadOnly, this.#options, signal);
    const path = await localPath(this.#options.place, volume.uid, claimed.name);
    if (!isReadOnly) await this.#options.giveToGroup(volume, path, signal);
  }

  async #isThere(uid: string, record: ClaimRecord): Promise<boolean> {
    const { csi, place } = this.#options;
    if (record.plugin === csiPlugin) return await csi.takeOver({ uid, ...record });
    if (record.isBlock) return (await targetOf(await this.#linkOf(uid, record))) !== undefined;
    return isMountedAt(await localPath(place, uid, record.name));
  }

  #linkOf(uid: string, { plugin, name }: Pick<ClaimRecord, 'plugin' | 'name'>): Promise<string> {
    return this.#options.place.pathOf(uid, devicesFolder, plugin, name);
  }

  async #link(uid: string, record: ClaimRecord, device: string): Promise<void> {
    const link = await this.#linkOf(uid, record);
    if ((await targetOf(link)) === device) return;
    await using _folder = await this.#options.place.make(uid, devicesFolder, record.plugin);
    await unlink(link).catch(ignoreMissing);
    await symlink(device, link);
  }
}

function toGrowing(volume: PodVolume, claimed: ClaimedVolume): GrowingVolume {
  return { csi: claimedCsiVolume(volume, claimed), claim: claimed };
}

const keyOf = ({ uid, name }: PodVolume) => `${uid}/${name}`;

async function targetOf(link: string): Promise<string | undefined> {
  return await readlink(link).catch(() => undefined);
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}
