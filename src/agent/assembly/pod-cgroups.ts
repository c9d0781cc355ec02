import type { Pod } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { CgroupDriver } from '../resources/index.ts';
import { openCgroupTree, PodCgroups, systemdSlices } from '../resources/index.ts';
import type { Connection } from '../runtime/index.ts';
import { CriCgroupDriver, RuntimeError, RuntimeService } from '../runtime/index.ts';
import type { NodeFacts } from './node-facts.ts';

export interface PodCgroupsServiceOptions {
  connection: Connection;
  config(): EffectiveConfig;
  facts: NodeFacts;
  /** The pods that run. */
  pods(): readonly Pod[];
  /** Whether the pod is wanted or here; undefined while that is not known. */
  isKnown(podUid: string): boolean | undefined;
  clock: Clock;
  log: Logger;
}

const cgroupMount = '/sys/fs/cgroup';
const refreshMs = 60_000;
const timeoutMs = 10_000;

/** The cgroups of pods, from when the runtime has logged how it makes its own. */
export class PodCgroupsService {
  readonly #options: PodCgroupsServiceOptions;
  readonly #made = Promise.withResolvers<PodCgroups>();
  #current: PodCgroups | undefined;
  #prepared: Promise<unknown> | undefined;

  constructor(options: PodCgroupsServiceOptions) {
    this.#options = options;
  }

  /** Waits for the runtime's first answer. The first call makes the groups of all pods; without pods there are none. */
  async get(): Promise<PodCgroups> {
    const cgroups = await this.#made.promise;
    this.#prepared ??= refresh(cgroups, this.#options).catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    await this.#prepared;
    return cgroups;
  }

  /** Undefined before it. */
  current(): PodCgroups | undefined {
    return this.#current;
  }

  readonly run: Service['run'] = async (signal, ready) => {
    const { config, clock, log } = this.#options;
    ready();
    const driver = await this.#askDriver(signal);
    if (driver === undefined) return;
    const { root } = config().pods.cgroups;
    const { cpuQuota, maxPids } = config().pods;
    const tree = openCgroupTree(cgroupMount);
    const cgroups = new PodCgroups({
      tree,
      slices: driver === 'systemd' ? systemdSlices(tree.version) : undefined,
      naming: { driver, root },
      limits: { cpuQuota, maxPids },
      clock,
    });
    this.#current = cgroups;
    this.#made.resolve(cgroups);
    let logged = '';
    while (!signal.aborted) {
      const isInUse = this.#prepared !== undefined || cgroups.list().length > 0;
      const problem = isInUse ? await refresh(cgroups, this.#options).catch(describeError) : undefined;
      if (problem !== undefined && problem !== logged)
        log.warn(`the cgroup of all pods cannot be kept: ${problem}`);
      logged = problem ?? '';
      await clock.sleep(refreshMs, signal);
    }
  };

  /** The runtime's answer, or the configuration's where the runtime does not say; undefined when the agent stops before. */
  async #askDriver(signal: AbortSignal): Promise<CgroupDriver | undefined> {
    const { connection, config, clock } = this.#options;
    const backoff = createBackoff({ initialMs: 250, maxMs: 5000, jitter: 0.2 });
    while (!signal.aborted) {
      try {
        const call = { deadlineMs: timeoutMs, cancel: signal };
        const { linux } = await connection.call(RuntimeService.method.runtimeConfig, {}, call);
        if (linux !== undefined)
          return linux.cgroupDriver === CriCgroupDriver.CGROUPFS ? 'cgroupfs' : 'systemd';
        return config().pods.cgroups.driver;
      } catch (error) {
        if (error instanceof RuntimeError && error.reason === 'unimplemented')
          return config().pods.cgroups.driver;
        await clock.sleep(backoff.next(), signal);
      }
    }
    return undefined;
  }
}

/** Keeps what all pods may use, and removes what is left of pods that are gone. */
async function refresh(
  cgroups: PodCgroups,
  { facts, pods, isKnown }: PodCgroupsServiceOptions,
): Promise<string | undefined> {
  const missing = await cgroups.prepare(facts.allPodsLimits());
  await cgroups.refreshTiers(pods());
  for (const uid of cgroups.list()) if (isKnown(uid) === false) await cgroups.remove(uid);
  return missing.length === 0 ? undefined : `these controllers are missing: ${missing.join(', ')}`;
}
