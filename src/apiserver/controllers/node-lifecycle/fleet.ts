import type { Node } from '../../../api/index.ts';
import type { Readiness } from './conditions.ts';
import { isOurs, readinessOf, readyCondition } from './conditions.ts';
import type { NodeTaints, Tainted, Trouble } from './taints.ts';
import type { ZoneCount } from './zones.ts';
import { zoneOf } from './zones.ts';

/*
 * What is known of each node, in this process's own time: times that other machines have written are never compared.
 * Nothing of it is stored: after a start every node has its whole grace period again, while the conditions and taints on
 * the nodes stay until the nodes report something better.
 */

/** All times are AwakeTime. */
interface NodeRecord {
  uid: string | undefined;
  zone: string;
  /** The last sign of life. */
  aliveMs: number;
  /** The condition Ready as last observed. */
  ready: string | undefined;
  readiness: Readiness;
  /** Since when it has this readiness, or since the grace period was restarted. */
  sinceMs: number;
  tainted: Tainted;
  /** Its pods are to be evicted. */
  isGivenUp: boolean;
}

/** What a node's conditions and taints should say. */
export interface Verdict {
  /** Its agent is silent: its last report is no longer valid. */
  isSilent: boolean;
  tainted: Tainted;
}

export interface FleetOptions {
  gracePeriodMs: number;
  taints: NodeTaints;
  now(): number;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #records = new Map<string, NodeRecord>();
  /** No node is ready: no node is given up, and those that were are not any more. */
  #isAllDown = false;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#records.size;
  }

  /** Records a sign of life. Does nothing for an unknown node: its time begins when it becomes known. */
  recordHeartbeat(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) record.aliveMs = this.#options.now();
  }

  forget(name: string): void {
    this.#records.delete(name);
  }

  /** Records the stored state of a node. */
  observe(name: string, node: Node): void {
    const nowMs = this.#options.now();
    const uid = node.metadata?.uid;
    const known = this.#records.get(name);
    const record = known?.uid === uid && known !== undefined ? known : createRecord(uid, node, nowMs);
    if (record !== known) this.#records.set(name, record);
    const ready = readyCondition(node);
    const text = ready && JSON.stringify([ready.status, ready.reason, ready.lastHeartbeatTime]);
    if (text !== record.ready && ready !== undefined && !isOurs(ready)) record.aliveMs = nowMs;
    record.ready = text;
    const readiness = readinessOf(ready);
    if (readiness !== record.readiness) record.sinceMs = nowMs;
    record.readiness = readiness;
    record.zone = zoneOf(node);
    record.tainted = this.#options.taints.read(node);
  }

  /** Undefined for an unknown node. */
  judge(name: string): Verdict | undefined {
    const record = this.#records.get(name);
    return record && this.#judge(record);
  }

  /** The nodes whose conditions or taints differ from the verdict. */
  *listOutdated(): Generator<string> {
    for (const [name, record] of this.#records) {
      const { isSilent, tainted } = this.#judge(record);
      const { noSchedule, noExecute } = record.tainted;
      const hasTaints = tainted.noSchedule === noSchedule && tainted.noExecute === noExecute;
      if (!hasTaints || (isSilent && record.readiness !== 'Unknown')) yield name;
    }
  }

  /** How many nodes of each zone are ready; a silent node is not. */
  countZones(): Map<string, ZoneCount> {
    const zones = new Map<string, ZoneCount>();
    for (const record of this.#records.values()) {
      const count = zones.get(record.zone) ?? { ready: 0, notReady: 0 };
      zones.set(record.zone, count);
      if (record.readiness === 'True' && !this.#isSilent(record)) count.ready++;
      else count.notReady++;
    }
    return zones;
  }

  /** Sets whether no node is ready. When some are ready again, all nodes get their grace period again. */
  setAllDown(isAllDown: boolean): void {
    if (this.#isAllDown && !isAllDown) this.restartGrace();
    this.#isAllDown = isAllDown;
    if (isAllDown) for (const record of this.#records.values()) record.isGivenUp = false;
  }

  /** Restarts the grace period of every node, because their heartbeats could not be received until now. */
  restartGrace(): void {
    const nowMs = this.#options.now();
    for (const record of this.#records.values()) {
      record.aliveMs = nowMs;
      record.sinceMs = nowMs;
      record.isGivenUp = false;
    }
  }

  /** By zone, the nodes that wait to be given up; those in trouble for the longest time first. */
  listWaiting(): Map<string, string[]> {
    const waiting = new Map<string, [string, NodeRecord][]>();
    for (const entry of this.#records) {
      const [, record] = entry;
      if (record.isGivenUp || record.tainted.noExecute !== undefined) continue;
      if (this.#troubleOf(record) === undefined || !this.#isDue(record)) continue;
      const others = waiting.get(record.zone);
      if (others === undefined) waiting.set(record.zone, [entry]);
      else others.push(entry);
    }
    const inOrder = ([zone, entries]: [string, [string, NodeRecord][]]): [string, string[]] => {
      const sorted = entries.sort(
        ([, a], [, b]) => Math.min(a.aliveMs, a.sinceMs) - Math.min(b.aliveMs, b.sinceMs),
      );
      return [zone, sorted.map(([name]) => name)];
    };
    return new Map([...waiting].map(inOrder));
  }

  /** From now on a node's pods are evicted too. */
  giveUp(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) record.isGivenUp = true;
  }

  #judge(record: NodeRecord): Verdict {
    const trouble = this.#troubleOf(record);
    if (trouble === undefined) record.isGivenUp = false;
    const isGivenUp = record.isGivenUp || record.tainted.noExecute !== undefined;
    const noExecute = isGivenUp && !this.#isAllDown ? trouble : undefined;
    return { isSilent: this.#isSilent(record), tainted: { noSchedule: trouble, noExecute } };
  }

  /** A taint that is on a node stays until the node is ready: to change from one trouble to another is no recovery. */
  #troubleOf(record: NodeRecord): Trouble | undefined {
    if (this.#isSilent(record)) return 'unreachable';
    if (record.readiness === 'True' || record.readiness === 'none') return undefined;
    const isTainted = record.tainted.noSchedule !== undefined || record.tainted.noExecute !== undefined;
    if (!isTainted && !this.#isDue(record)) return undefined;
    return record.readiness === 'False' ? 'not-ready' : 'unreachable';
  }

  /** Whether the grace period of a node in trouble is over. */
  #isDue(record: NodeRecord): boolean {
    return this.#isSilent(record) || this.#options.now() - record.sinceMs >= this.#options.gracePeriodMs;
  }

  #isSilent({ aliveMs }: NodeRecord): boolean {
    return this.#options.now() - aliveMs >= this.#options.gracePeriodMs;
  }
}

function createRecord(uid: string | undefined, node: Node, nowMs: number): NodeRecord {
  const tainted = { noSchedule: undefined, noExecute: undefined };
  const zone = zoneOf(node);
  return {
    uid,
    zone,
    aliveMs: nowMs,
    ready: undefined,
    readiness: 'none',
    sinceMs: nowMs,
    tainted,
    isGivenUp: false,
  };
}
