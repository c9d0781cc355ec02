import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError, KeyedMutex } from '../../../base/index.ts';
import type { StateFile } from '../../../base/state-file/index.ts';
import { openStateFile } from '../../../base/state-file/index.ts';
import type { DraDriver, DraDrivers } from '../dra/index.ts';
import type { ClaimDevice, ClaimRecord, ClaimRecords } from './claim-record.ts';
import { parseRecords } from './claim-record.ts';
import type { ResourceClaim } from './resource-claim.ts';
import { checkClaim, claimsOfContainer, listClaims } from './resource-claim.ts';

export interface PodClaimsOptions {
  /** The state file; absolute. */
  readonly path: string;
  readonly drivers: Pick<DraDrivers, 'driver'>;
  /** Reads a ResourceClaim; rejects with an Error for people. */
  readClaim(namespace: string, name: string, signal: AbortSignal): Promise<ResourceClaim>;
  /** Whether the pod is wanted or here; undefined while that is not known. */
  isKnown(podUid: string): boolean | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A claim that the pod may use and whose drivers are there. */
interface CheckedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly drivers: readonly string[];
}

const sweepMs = 60_000;
const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
  `${namespace}/${name}`;

/**
 * The ResourceClaims of the pods of this node: prepared by their drivers before the first container, and unprepared when the last
 * pod that uses them has ended. That a pod uses a claim is on disk before a driver is called, so a claim whose preparation was
 * cut off is unprepared too. The messages are the reference's.
 */
export class PodClaims {
  readonly #options: PodClaimsOptions;
  readonly #file: StateFile<ClaimRecords>;
  readonly #locks = new KeyedMutex();
  readonly #loaded = Promise.withResolvers<void>();
  readonly #end = new AbortController();
  /** By namespace and name. */
  readonly #records = new Map<string, ClaimRecord>();

  constructor(options: PodClaimsOptions) {
    this.#options = options;
    this.#file = openStateFile({
      ...{ path: options.path, what: 'resource claims', parse: parseRecords },
      ...{ clock: options.clock, log: options.log },
    });
  }

  /** Resolves when all claims of the pod are prepared; calls no driver for those that are. Rejects with an Error for people. */
  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    if (!hasClaims(pod)) return;
    await this.#loaded.promise;
    try {
      // all are looked at before anything is kept: a pod that cannot start can be deleted then without its drivers
      const checked: CheckedClaim[] = [];
      for (const claim of listClaims(pod)) checked.push(await this.#check(pod, claim, signal));
      const podUid = pod.metadata?.uid ?? '';
      for (const claim of checked)
        await this.#locks.run(keyOf(claim), () => this.#prepareOne(podUid, claim, signal));
    } catch (error) {
      throw new Error(`prepare dynamic resources: ${describeError(error)}`, { cause: error });
    }
  }

  /** The devices of one container, by their names of the Container Device Interface. Prepares what is not. */
  async devicesOf(pod: Pod, container: string, signal: AbortSignal): Promise<string[]> {
    if (!hasClaims(pod)) return [];
    await this.#loaded.promise;
    const { namespace = '', uid = '' } = pod.metadata ?? {};
    const wanted = claimsOfContainer(pod, container);
    const recordOf = (name: string) => this.#records.get(keyOf({ namespace, name }));
    const isReady = wanted.every(({ name }) => {
      const record = recordOf(name);
      return record?.devices !== undefined && record.pods.includes(uid);
    });
    if (!isReady) await this.prepare(pod, signal); // it was started by another agent
    const devices = wanted.flatMap(({ name, request }) =>
      (recordOf(name)?.devices ?? []).filter(({ requests }) => isFor(requests, request)),
    );
    return [...new Set(devices.flatMap(({ cdiDeviceIds }) => cdiDeviceIds))];
  }

  /** Resolves when the pod uses no claim any more. Rejects with an Error for people; it is to be tried again then. */
  async release(podUid: string): Promise<void> {
    await this.#loaded.promise;
    const own = [...this.#records.values()].filter(({ pods }) => pods.includes(podUid));
    const failures: string[] = [];
    for (const record of own) {
      try {
        await this.#locks.run(keyOf(record), () => this.#releaseOne(podUid, keyOf(record)));
      } catch (error) {
        failures.push(describeError(error));
      }
    }
    if (failures.length > 0) throw new Error(`unprepare dynamic resources: ${failures.join('; ')}`);
  }

  /** Of a service, ready when it is known what is prepared: unprepares what pods have left that are gone. */
  readonly run: Service['run'] = async (signal, ready) => {
    const { clock } = this.#options;
    const found = await this.#file.read();
    for (const record of found.state === 'value' ? found.value.claims : [])
      this.#records.set(keyOf(record), record);
    this.#loaded.resolve();
    ready();
    while (!signal.aborted) {
      await clock.sleep(sweepMs, signal);
      if (!signal.aborted) await this.#sweep();
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the agent stops'));
    await this.#file[Symbol.asyncDispose]();
  }

  async #sweep(): Promise<void> {
    const { isKnown, log } = this.#options;
    const pods = new Set([...this.#records.values()].flatMap(({ pods: users }) => users));
    for (const uid of pods) {
      if (isKnown(uid) !== false) continue;
      await this.release(uid).catch((error: unknown) =>
        log.warn({ podUid: uid }, `of a pod that is gone: ${describeError(error)}; tried again`),
      );
    }
  }

  async #check(
    pod: Pod,
    named: ReturnType<typeof listClaims>[number],
    signal: AbortSignal,
  ): Promise<CheckedClaim> {
    const namespace = pod.metadata?.namespace ?? '';
    const { name } = named;
    let claim: ResourceClaim;
    try {
      claim = await this.#options.readClaim(namespace, name, signal);
    } catch (error) {
      throw new Error(`fetch ResourceClaim ${name}: ${describeError(error)}`, { cause: error });
    }
    const drivers = checkClaim(pod, named, claim);
    for (const driver of drivers) this.#findDriver(driver);
    return { namespace, name, uid: claim.metadata?.uid ?? '', drivers };
  }

  #findDriver(name: string): DraDriver {
    const driver = this.#options.drivers.driver(name);
    if (driver === undefined) throw new Error(`DRA driver ${name} is not registered`);
    return driver;
  }

  async #prepareOne(podUid: string, claim: CheckedClaim, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, drivers } = claim;
    const known = this.#records.get(keyOf(claim));
    if (known !== undefined && known.uid !== uid)
      throw new Error(
        `old ResourceClaim with same name ${name} and different UID ${known.uid} still exists (previous pod force-deleted?!)`,
      );
    const record = known ?? { namespace, name, uid, drivers, pods: [], devices: undefined };
    const pods = record.pods.includes(podUid) ? record.pods : [...record.pods, podUid];
    if (pods !== record.pods) await this.#keep({ ...record, pods });
    if (record.devices !== undefined) return;
    const devices: ClaimDevice[] = [];
    for (const driver of record.drivers) devices.push(...(await this.#callPrepare(driver, claim, signal)));
    await this.#keep({ ...record, pods, devices });
  }

  async #callPrepare(driver: string, claim: CheckedClaim, signal: AbortSignal): Promise<ClaimDevice[]> {
    const { namespace, name, uid } = claim;
    const cancel = AbortSignal.any([signal, this.#end.signal]);
    const prepared = (await this.#findDriver(driver).prepare([{ namespace, name, uid }], cancel)).get(uid);
    if (prepared === undefined) throw new Error('NodePrepareResources skipped 1 ResourceClaims');
    if ('error' in prepared)
      throw new Error(`NodePrepareResources failed for ResourceClaim ${name}: ${prepared.error}`);
    return prepared.devices.map(({ requests, cdiDeviceIds }) => ({ requests, cdiDeviceIds }));
  }

  async #releaseOne(podUid: string, key: string): Promise<void> {
    const record = this.#records.get(key);
    if (record === undefined || !record.pods.includes(podUid)) return;
    const pods = record.pods.filter((uid) => uid !== podUid);
    if (pods.length > 0) return await this.#keep({ ...record, pods });
    const { namespace, name, uid, drivers } = record;
    if (record.devices !== undefined) await this.#keep({ ...record, devices: undefined });
    for (const driver of drivers) {
      const claims = [{ namespace, name, uid }];
      const done = await this.#findDriver(driver).unprepare(claims, this.#end.signal);
      const error = done.get(uid)?.error;
      if (error !== undefined)
        throw new Error(`NodeUnprepareResources failed for ResourceClaim ${name}: ${error}`);
    }
    this.#records.delete(key);
    await this.#write();
  }

  async #keep(record: ClaimRecord): Promise<void> {
    this.#records.set(keyOf(record), record);
    await this.#write();
  }

  async #write(): Promise<void> {
    await this.#file.write({ claims: [...this.#records.values()] });
  }
}

function hasClaims({ spec, status }: Pod): boolean {
  return (spec?.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined;
}

/** A request with alternatives is named by its own name, a driver may name the one that was taken: `gpu/large`. */
function isFor(requests: readonly string[], wanted: string | undefined): boolean {
  if (wanted === undefined || requests.length === 0) return true;
  return requests.some((each) => each === wanted || each.startsWith(`${wanted}/`));
}
