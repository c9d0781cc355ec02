import { dirname } from 'node:path';
import {
  describeError,
  KeyedMutex,
  makeFolders,
  mapConcurrently,
  withDeadline,
} from '../../../base/index.ts';
import type { PodObjects } from '../../objects/index.ts';
import type { PodTokens } from '../../tokens/index.ts';
import type { VolumeLeft } from '../keep-releasing.ts';
import { isMountedAt } from '../mounter.ts';
import type { Place } from '../place.ts';
import type { NodeStorage } from '../storage.ts';
import { StorageReader } from '../storage.ts';
import { mountDeviceStep, setUpStep, VolumeError } from '../volume-error.ts';
import { readAttachment } from './attachment.ts';
import type { CsiPaths, PodVolumeName } from './paths.ts';
import {
  attachmentName,
  isPublishedAt,
  listPodVolumes,
  listVolumesOf,
  podPaths,
  stagePaths,
  uniqueName,
} from './paths.ts';
import { removeVolumeFiles } from './remove-files.ts';
import { capabilityOf, podInfo, readSecret, tokensFor } from './request.ts';
import type { RoundsOptions } from './rounds.ts';
import { VolumeRounds } from './rounds.ts';
import type { DriverRules } from './rules.ts';
import { checkLifecycle, DriverRulesReader, isGivenToGroup } from './rules.ts';
import { Stages } from './stages.ts';
import type { PublishRequest, VolumeDriver } from './types.ts';
import { DriverError, findDriver } from './types.ts';
import type { CsiVolume } from './volume.ts';
import { findDriverFor, isForOnePod } from './volume.ts';
import type { VolumeData, VolumeProgress } from './volume-data.ts';
import { readVolumeData, writeVolumeData } from './volume-data.ts';

export interface CsiVolumesOptions extends RoundsOptions {
  readonly place: Place;
  readonly storage: NodeStorage;
  readonly objects: PodObjects;
  readonly tokens: PodTokens;
  /** Gives the files of a volume to the group of its pod, if the pod has one. */
  giveToGroup(volume: CsiVolume, path: string, signal: AbortSignal): Promise<void>;
}

/** How many volumes of a pod are taken from it at a time. */
const maxAtOnce = 4;
/** A pod must have ended first. */
const inUseMs = 2000;

/** What a call to publish needs. */
interface Work {
  readonly volume: CsiVolume;
  readonly driver: VolumeDriver;
  readonly rules: DriverRules;
  readonly at: CsiPaths;
  readonly signal: AbortSignal;
}

/**
 * Volumes of drivers: published to pods, staged before that where the driver wants it, and given back. Whatever is done with one
 * volume is done one thing at a time, for all pods that have it.
 */
export class CsiVolumes {
  readonly #options: CsiVolumesOptions;
  readonly #reader: StorageReader;
  readonly #rules: DriverRulesReader;
  readonly #stages: Stages;
  readonly #locks = new KeyedMutex();
  readonly #rounds: VolumeRounds;
  /** The targets of those that this process has found or made. */
  readonly #published = new Set<string>();

  constructor(options: CsiVolumesOptions) {
    const { storage, clock } = options;
    this.#options = options;
    this.#reader = new StorageReader(storage, clock);
    this.#rules = new DriverRulesReader(this.#reader, clock);
    this.#rounds = new VolumeRounds(options, { reason: 'FailedMount', step: setUpStep });
    this.#stages = new Stages({ ...options, locks: this.#locks });
  }

  /** Publishes a volume to its pod unless that is done. */
  async publish(volume: CsiVolume, signal: AbortSignal): Promise<void> {
    const { place, storage } = this.#options;
    using _lock = await this.#locks.acquire(uniqueName(volume), signal);
    const at = await podPaths(place, volume);
    if (this.#published.has(at.target)) return;
    if (!(await isPublishedAt(at))) {
      try {
        const driver = findDriverFor(volume, storage);
        const rules = await this.#rules.read(volume.driver, signal);
        checkLifecycle(volume, rules);
        await this.#begin({ volume, driver, rules, at, signal });
      } catch (error) {
        this.#rules.forget(volume.driver);
        throw error;
      }
    }
    this.#published.add(at.target);
    this.keepPublished(volume, async () => volume);
  }

  /** Has a volume published again and again if its driver wants that; `find` says what it is now. */
  keepPublished(
    volume: Pick<CsiVolume, 'pod' | 'uid' | 'inPod' | 'driver'>,
    find: (signal: AbortSignal) => Promise<CsiVolume>,
  ): void {
    const { pod, uid, inPod, driver } = volume;
    const visit = async (signal: AbortSignal) => {
      const rules = await this.#rules.read(driver, signal);
      if (rules.isRepublished) await this.#publishAgain(await find(signal), rules, signal);
      return rules.isRepublished;
    };
    this.#rounds.add({ pod, uid, inPod, driver, visit });
  }

  /**
   * Takes a volume from its pod, by what the disk says of it; then it is given back to its driver if no other pod has it, which
   * is not waited for.
   */
  async unpublish(of: PodVolumeName, signal: AbortSignal): Promise<void> {
    const { place, storage } = this.#options;
    const at = await podPaths(place, of);
    const known = await readVolumeData(at.data);
    if (known === undefined) return;
    using _lock = await this.#locks.acquire(uniqueName(known), signal);
    try {
      if (known.progress !== 'prepared' || isMountedAt(at.target)) {
        const what = 'Unmounter.TearDownAt failed to get CSI client';
        await findDriver(storage.drivers, known.driver, what).unpublish(known.handle, at.target, signal);
      }
      if (isMountedAt(at.target)) throw new Error(`${at.target} is still mounted`);
      await removeVolumeFiles(at);
    } catch (error) {
      const step = `UnmountVolume.TearDown failed for volume ${JSON.stringify(of.name)}`;
      throw new Error(`${step} : ${describeError(error)}`, { cause: error });
    }
    this.#published.delete(at.target);
    await this.#stages.release(known);
  }

  /** Gives back what no pod has. To be called once it is known which pods there are. */
  async sweep(): Promise<void> {
    await this.#stages.sweep();
    this.#options.storage.inUse.settle();
  }

  /** Where the driver publishes a volume of a pod. */
  async pathOf(of: PodVolumeName): Promise<string> {
    return (await podPaths(this.#options.place, of)).target;
  }

  /** Whether the driver has published it, as far as the disk and the table of mounts say; then it is taken over as it is. */
  async takeOver(of: PodVolumeName): Promise<boolean> {
    const at = await podPaths(this.#options.place, of);
    const isThere = await isPublishedAt(at);
    if (isThere) this.#published.add(at.target);
    return isThere;
  }

  /** Has the driver make a volume larger that it has published; false: it is not published any more. */
  async expand(volume: CsiVolume, sizeBytes: bigint, signal: AbortSignal): Promise<boolean> {
    const { place, storage } = this.#options;
    using _lock = await this.#locks.acquire(uniqueName(volume), signal);
    const { target: path } = await podPaths(place, volume);
    if (!this.#published.has(path)) return false;
    const { uid, expandSecret } = volume;
    const driver = findDriverFor(volume, storage);
    const secrets = await readSecret('NodeExpandSecretRef', expandSecret, uid, this.#options, signal);
    await driver.expand({ ...(await this.#whereIs(volume, driver, signal)), sizeBytes, secrets }, signal);
    return true;
  }

  /** Takes all volumes of drivers from a pod; returns what is in the way, for users. Never rejects. */
  async unpublishAll(uid: string, signal: AbortSignal): Promise<string[]> {
    try {
      const found = await listVolumesOf(this.#options.place, uid);
      const problems = await mapConcurrently(found, maxAtOnce, async (volume) => {
        try {
          await this.unpublish(volume, signal);
          return [];
        } catch (error) {
          return [describeError(error)];
        }
      });
      return problems.flat();
    } catch (error) {
      return [describeError(error)];
    }
  }

  /** What could not be given back yet. */
  left(): VolumeLeft[] {
    return this.#stages.left();
  }

  /** Those of the pod are not published again. */
  forget(uid: string): void {
    this.#rounds.forget(uid);
  }

  close(): void {
    this.#rounds.close();
    this.#stages.close();
  }

  async #begin(work: Work): Promise<void> {
    const { place } = this.#options;
    const { volume, driver, at, signal } = work;
    if (isForOnePod(volume)) await this.#refuseOthers(volume);
    await using _folder = await place.make(volume.uid, ...at.folder);
    const note = (progress: VolumeProgress) => writeVolumeData(at.data, this.#describe(volume, progress));
    const before = await readVolumeData(at.data);
    if (before?.progress !== 'asked') await note('prepared');
    const request = await this.#request(work);
    const stagingPath = await this.#stage(work, request);
    await makeFolders(dirname(at.target));
    await note('asked');
    try {
      await driver.publish({ ...request, stagingPath }, signal);
    } catch (error) {
      if (error instanceof DriverError && error.isFinal) await note('prepared');
      throw error;
    }
    if (isGivenToGroup(volume, work.rules) && !(await driver.abilities(signal)).has('mount-group'))
      await this.#options.giveToGroup(volume, at.target, signal);
    await note('done');
  }

  async #publishAgain(volume: CsiVolume, rules: DriverRules, signal: AbortSignal): Promise<void> {
    const { place, storage } = this.#options;
    using _lock = await this.#locks.acquire(uniqueName(volume), signal);
    const at = await podPaths(place, volume);
    if (!this.#published.has(at.target)) return; // the pod ends
    const work = { volume, rules, at, signal, driver: findDriverFor(volume, storage) };
    const request = await this.#request(work);
    const { stagingPath } = await this.#whereIs(volume, work.driver, signal);
    await work.driver.publish({ ...request, stagingPath }, signal);
  }

  async #whereIs(volume: CsiVolume, driver: VolumeDriver, signal: AbortSignal) {
    const { place } = this.#options;
    const isStaged = await this.#isStaged({ volume, driver, signal });
    return {
      volumeId: volume.handle,
      path: (await podPaths(place, volume)).target,
      stagingPath: isStaged ? (await stagePaths(place, volume)).target : '',
      capability: capabilityOf(volume, await driver.abilities(signal)),
    };
  }

  async #isStaged({ volume, driver, signal }: Pick<Work, 'volume' | 'driver' | 'signal'>): Promise<boolean> {
    return volume.lifecycle === 'Persistent' && (await driver.abilities(signal)).has('stage');
  }

  async #stage(work: Work, request: PublishRequest): Promise<string> {
    if (!(await this.#isStaged(work))) return '';
    const { volume, driver, signal } = work;
    const { stageSecret, uid } = volume;
    const secrets = await readSecret('NodeStageSecretRef', stageSecret, uid, this.#options, signal).catch(
      (cause: unknown) => {
        throw new VolumeError(describeError(cause), { step: mountDeviceStep, cause });
      },
    );
    const described = this.#describe(volume, 'done');
    const { volumeId, publishContext, capability } = request;
    const own = { volumeId, publishContext, capability, secrets, volumeContext: volume.attributes };
    return await this.#stages.stage(described, driver, own, signal);
  }

  async #request(work: Work): Promise<PublishRequest> {
    const { volume, driver, rules, at, signal } = work;
    const publishContext = await this.#attach(work);
    const tokens = await tokensFor(volume.pod, rules, this.#options.tokens, signal);
    const [context, secret] = rules.hasTokensInSecrets ? [{}, tokens] : [tokens, {}];
    const { uid, publishSecret } = volume;
    const own = await readSecret('NodePublishSecretRef', publishSecret, uid, this.#options, signal);
    return {
      volumeId: volume.handle,
      publishContext,
      stagingPath: '',
      targetPath: at.target,
      capability: capabilityOf(volume, await driver.abilities(signal)),
      isReadOnly: volume.isReadOnly,
      secrets: { ...own, ...secret },
      volumeContext: { ...volume.attributes, ...podInfo(volume, rules), ...context },
    };
  }

  /** That the volume is in use here must stand in the API before: then nobody detaches it. */
  async #attach({ volume, rules, signal }: Work): Promise<Readonly<Record<string, string>>> {
    const { storage, clock } = this.#options;
    if (volume.lifecycle === 'Ephemeral' || !rules.needsAttachment) return {};
    const limits = { clock, timeoutMs: announceMs, signal };
    await withDeadline(limits, unannounced, (cancel) => storage.inUse.announce(uniqueName(volume), cancel));
    return await readAttachment(volume, storage.nodeName, this.#reader, signal);
  }

  async #refuseOthers(volume: CsiVolume): Promise<void> {
    const others = (await listPodVolumes(this.#options.place)).filter(
      ({ uid, data: { driver, handle, progress } }) =>
        uid !== volume.uid && driver === volume.driver && handle === volume.handle && progress !== 'prepared',
    );
    if (others.length === 0) return;
    const message = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
    throw new VolumeError(message, { maxWaitMs: inUseMs });
  }

  #describe(volume: CsiVolume, progress: VolumeProgress): VolumeData {
    const { name, driver, handle, lifecycle, isBlock } = volume;
    const node = this.#options.storage.nodeName;
    return {
      ...{ name, driver, handle, lifecycle, isBlock, progress, node },
      attachment: attachmentName(handle, driver, node),
    };
  }
}

const announceMs = 15_000;
const unannounced = () => "Volume has not been added to the list of VolumesInUse in the node's volume status";
