import type { Clock, Logger } from '../../../base/index.ts';
import { DeadlineError } from '../../../base/index.ts';
import { namespaceOf } from '../../downward/index.ts';
import { csiPlugin } from '../csi/paths.ts';
import { VolumeRounds } from '../csi/rounds.ts';
import type { VolumeStats } from '../csi/types.ts';
import { readVolumeStats } from '../csi/volume-stats.ts';
import type { PodVolume } from '../kinds/types.ts';
import type { Place } from '../place.ts';
import type { NodeStorage } from '../storage.ts';
import type { Tools } from '../tools.ts';
import { localPath } from './local-volume.ts';
import type { ClaimRecord } from './record.ts';
import { claimOf } from './resolve.ts';

export interface ClaimUsageOptions {
  readonly place: Place;
  readonly storage: NodeStorage;
  readonly tools: Tools;
  /** Between two looks at a volume; default one minute. */
  readonly lookMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How full the volume of a claim is, as was last found. */
export interface UsedClaim extends Omit<VolumeStats, 'isAbnormal'> {
  readonly namespace: string;
  readonly claim: string;
}

const statTimeoutMs = 5000;
/** A file system that hung is left in peace for so long: the program that looked may hang with it until then. */
const hungMs = 600_000;

/**
 * Looks each minute how full the volumes of claims are that pods here have: drivers are asked, local folders looked at. Each may hang:
 * then nothing is known of that volume, and what is done with it otherwise does not wait.
 */
export class ClaimUsage {
  readonly #options: ClaimUsageOptions;
  readonly #rounds: VolumeRounds;
  /** By pod and volume. */
  readonly #found = new Map<string, UsedClaim>();

  constructor(options: ClaimUsageOptions) {
    this.#options = options;
    // no Event: nothing of the pod is worse for it
    const rounds = { ...options, report: () => undefined };
    this.#rounds = new VolumeRounds(rounds, { reason: '', step: 'NodeGetVolumeStats' });
  }

  /** From now on. */
  keep(volume: PodVolume, record: ClaimRecord): void {
    const { pod, uid, name: inPod } = volume;
    const isOfDriver = record.plugin === csiPlugin;
    if (record.isBlock && !isOfDriver) return; // a device has no files
    const key = keyOf(uid, inPod);
    const claim = { namespace: namespaceOf(pod), claim: claimOf(volume).name };
    let notBeforeMs = 0;
    const visit = async (signal: AbortSignal) => {
      if (this.#options.clock.monotonicMs() < notBeforeMs) return true;
      try {
        const stats = isOfDriver
          ? await readVolumeStats({ uid, name: record.name, isBlock: record.isBlock }, this.#options, signal)
          : await this.#look(uid, record.name);
        if (stats !== undefined && this.#rounds.has(uid, inPod)) this.#found.set(key, { ...claim, ...stats });
        else this.#found.delete(key);
      } catch (error) {
        this.#found.delete(key);
        if (error instanceof DeadlineError) notBeforeMs = this.#options.clock.monotonicMs() + hungMs;
        throw error;
      }
      return true;
    };
    this.#rounds.add({ pod, uid, inPod, driver: record.driver ?? '', visit });
  }

  /** Those of the pod are not looked at any more. */
  forget(uid: string): void {
    this.#rounds.forget(uid);
    for (const key of this.#found.keys()) if (key.startsWith(`${uid}/`)) this.#found.delete(key);
  }

  /** Each claim once, however many pods have it. */
  list(): UsedClaim[] {
    const found = [...this.#found.values()];
    return [...new Map(found.map((each) => [`${each.namespace}/${each.claim}`, each])).values()];
  }

  close(): void {
    this.#rounds.close();
  }

  /** In another process: this one must not hang with a file system. */
  async #look(uid: string, name: string): Promise<Omit<VolumeStats, 'isAbnormal'>> {
    const { place, tools } = this.#options;
    const path = await localPath(place, uid, name);
    const argv = ['--file-system', '--format=%S %b %f %a %c %d', '--', path];
    const { code, output, errors } = await tools.run('stat', argv, statTimeoutMs);
    const figures = output.trim().split(' ').map(Number);
    const [size = 0, blocks = 0, free = 0, available = 0, inodes = 0, inodesFree = 0] = figures;
    if (code !== 0 || figures.length !== 6 || !figures.every(Number.isFinite))
      throw new Error(
        `stat of ${path} failed: ${errors.trim() || `it said ${JSON.stringify(output.trim())}`}`,
      );
    return {
      bytes: { total: blocks * size, available: available * size, used: (blocks - free) * size },
      inodes: { total: inodes, available: inodesFree, used: inodes - inodesFree },
    };
  }
}

const keyOf = (uid: string, inPod: string) => `${uid}/${inPod}`;
