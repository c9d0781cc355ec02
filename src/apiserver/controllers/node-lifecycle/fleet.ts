import type { Node } from '../../../api/index.ts';
import type { Readiness } from './conditions.ts';
import { isOurs, readinessOf, readyCondition } from './conditions.ts';
import type { NodeTaints, Tainted, Trouble } from './taints.ts';
import type { ZoneCount } from './zones.ts';
import { zoneOf } from './zones.ts';

/*
 * What is known of each node, in this process's own time: no time that a machine has written is ever compared with
 * another. Nothing of it is kept: after a start every node has its whole grace period again, while what is written on
 * the nodes (conditions, taints) stays until they say something better.
 */

/** All times are AwakeTime. */
interface NodeRecord {
  uid: string | undefined;
  zone: string;
  /** The last sign of life. */
  seenMs: number;
  /** The condition Ready as it was seen last. */
  sign: string | undefined;
  readiness: Readiness;
  /** Since when it says so, or since the grace began anew. */
  sinceMs: number;
  tainted: Tainted;
  /** Its turn to be given up has come. */
  isGivenUp: boolean;
}

/** What should stand on a node. */
export interface Verdict {
  /** Its agent is silent: what it told last is not true any more. */
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
  /** No node is ready: nobody is given up, and who was is not any more. */
  #isAllDown = false;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#records.size;
  }

  /** A sign of life of a node; nothing where it is not known yet, as its time begins when it becomes known. */
  heard(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) record.seenMs = this.#options.now();
  }

  forget(name: string): void {
    this.#records.delete(name);
  }

  /** Takes note of a node as it is stored now. */
  observe(name: string, node: Node): void {
    const nowMs = this.#options.now();
    const uid = node.metadata?.uid;
    const known = this.#records.get(name);
    const record = known?.uid === uid && known !== undefined ? known : newRecord(uid, node, nowMs);
    if (record !== known) this.#records.set(name, record);
    const ready = readyCondition(node);
    const sign = ready && JSON.stringify([ready.status, ready.reason, ready.lastHeartbeatTime]);
    if (sign !== record.sign && ready !== undefined && !isOurs(ready)) record.seenMs = nowMs;
    record.sign = sign;
    const readiness = readinessOf(ready);
    if (readiness !== record.readiness) record.sinceMs = nowMs;
    record.readiness = readiness;
    record.zone = zoneOf(node);
    record.tainted = this.#options.taints.read(node);
  }

  /** Undefined for a node that is not known. */
  judge(name: string): Verdict | undefined {
    const record = this.#records.get(name);
    return record && this.#judge(record);
  }

  /** The nodes on which something else stands than should. */
  *unsettled(): Generator<string> {
    for (const [name, record] of this.#records) {
      const { isSilent, tainted } = this.#judge(record);
      const { noSchedule, noExecute } = record.tainted;
      const isSettled = tainted.noSchedule === noSchedule && tainted.noExecute === noExecute;
      if (!isSettled || (isSilent && record.readiness !== 'Unknown')) yield name;
    }
  }

  /** How the zones are, by what the nodes say and which of them are silent. */
  zones(): Map<string, ZoneCount> {
    const zones = new Map<string, ZoneCount>();
    for (const record of this.#records.values()) {
      const count = zones.get(record.zone) ?? { ready: 0, notReady: 0 };
      zones.set(record.zone, count);
      if (record.readiness === 'True' && !this.#isSilent(record)) count.ready++;
      else count.notReady++;
    }
    return zones;
  }

  /** Tells that no node is ready any more, or that some are again: then the others have their time anew. */
  setAllDown(isAllDown: boolean): void {
    if (this.#isAllDown && !isAllDown) this.graceAnew();
    this.#isAllDown = isAllDown;
    if (isAllDown) for (const record of this.#records.values()) record.isGivenUp = false;
  }

  /** The whole grace period again for every node, because until now they could not be heard. */
  graceAnew(): void {
    const nowMs = this.#options.now();
    for (const record of this.#records.values()) {
      record.seenMs = nowMs;
      record.sinceMs = nowMs;
      record.isGivenUp = false;
    }
  }

  /** By zone, the nodes that wait to be given up; those in trouble for longest first. */
  waiting(): Map<string, string[]> {
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
        ([, a], [, b]) => Math.min(a.seenMs, a.sinceMs) - Math.min(b.seenMs, b.sinceMs),
      );
      return [zone, sorted.map(([name]) => name)];
    };
    return new Map([...waiting].map(inOrder));
  }

  /** From now on a node's pods are to go too. */
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

  /** What stands on a node already goes only when the node is ready: that it has another trouble now is no return. */
  #troubleOf(record: NodeRecord): Trouble | undefined {
    if (this.#isSilent(record)) return 'unreachable';
    if (record.readiness === 'True' || record.readiness === 'none') return undefined;
    const isTold = record.tainted.noSchedule !== undefined || record.tainted.noExecute !== undefined;
    if (!isTold && !this.#isDue(record)) return undefined;
    return record.readiness === 'False' ? 'not-ready' : 'unreachable';
  }

  /** Whether the grace period of a node in trouble is over. */
  #isDue(record: NodeRecord): boolean {
    return this.#isSilent(record) || this.#options.now() - record.sinceMs >= this.#options.gracePeriodMs;
  }

  #isSilent({ seenMs }: NodeRecord): boolean {
    return this.#options.now() - seenMs >= this.#options.gracePeriodMs;
  }
}

function newRecord(uid: string | undefined, node: Node, nowMs: number): NodeRecord {
  const tainted = { noSchedule: undefined, noExecute: undefined };
  const zone = zoneOf(node);
  return {
    uid,
    zone,
    seenMs: nowMs,
    sign: undefined,
    readiness: 'none',
    sinceMs: nowMs,
    tainted,
    isGivenUp: false,
  };
}
