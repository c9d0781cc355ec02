import type { Pod } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../base/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { CgroupDriver } from '../resources/index.ts';
import { openCgroupTree, PodCgroups, systemdSlices } from '../resources/index.ts';
import type { Connection } from '../runtime/index.ts';
import { CriCgroupDriver, RuntimeError, RuntimeService } from '../runtime/index.ts';
import type { NodeFacts } from './node-facts.ts';
import type { ReservedLimits } from './reserved-groups.ts';

export interface PodCgroupsServiceOptions {
  connection: Connection;
  config(): EffectiveConfig;
  facts: NodeFacts;
  /** The pods that run. */
  pods(): readonly Pod[];
  /** Those of the system and of the agents. */
  reserved: Pick<ReservedLimits, 'keep'>;
  onReload(listener: () => void): Disposable;
  clock: Clock;
  log: Logger;
}

const refreshMs = 60_000;
const timeoutMs = 10_000;

/** The cgroups of pods, once the runtime has answered how it makes its own. */
export class PodCgroupsService {
  readonly #options: PodCgroupsServiceOptions;
  readonly #made = Promise.withResolvers<PodCgroups>();
  #current: PodCgroups | undefined;
  /** The uids of pods whose cgroups are to be removed as soon as it is known where they are. */
  readonly #overdue = new Set<string>();
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

  /** Removes the cgroup of a pod of this agent. Before the runtime's first answer it is left for then. */
  async remove(podUid: string): Promise<void> {
    if (this.#current === undefined) this.#overdue.add(podUid);
    else await this.#current.remove(podUid);
  }

  readonly run: Service['run'] = async (signal, ready) => {
    const { config, clock, log } = this.#options;
    ready();
    const driver = await this.#askDriver(signal);
    if (driver === undefined) return;
    const { root } = config().pods.cgroups;
    const { cpuQuota, maxPids } = config().pods;
    const tree = openCgroupTree();
    const slices = driver === 'systemd' ? systemdSlices(tree.version) : undefined;
    const cgroups = new PodCgroups({
      ...{ tree, slices },
      naming: { driver, root },
      limits: { cpuQuota, maxPids },
      clock,
    });
    this.#current = cgroups;
    this.#made.resolve(cgroups);
    let logged = '';
    const waker = createWaker(clock);
    using _reloads = this.#options.onReload(waker.wake);
    while (!signal.aborted) {
      await this.#removeOverdue(cgroups);
      await this.#options.reserved.keep({ tree, driver, slices });
      const isInUse = this.#prepared !== undefined || this.#options.pods().length > 0;
      const problem = isInUse ? await refresh(cgroups, this.#options).catch(describeError) : undefined;
      if (problem !== undefined && problem !== logged)
        log.warn(`the cgroup of all pods cannot be kept: ${problem}`);
      logged = problem ?? '';
      await waker.sleep(refreshMs, signal);
    }
  };

  async #removeOverdue(cgroups: PodCgroups): Promise<void> {
    for (const uid of this.#overdue)
      await cgroups.remove(uid).then(
        () => this.#overdue.delete(uid),
        (error: unknown) => this.#options.log.debug(describeError(error)),
      );
  }

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

/** Keeps what all pods may use. Groups of pods that are not known here may be another agent's: they are let be. */
async function refresh(
  cgroups: PodCgroups,
  { facts, pods }: PodCgroupsServiceOptions,
): Promise<string | undefined> {
  const missing = await cgroups.prepare(facts.allPodsLimits());
  await cgroups.refreshTiers(pods());
  return missing.length === 0 ? undefined : `these controllers are missing: ${missing.join(', ')}`;
}
