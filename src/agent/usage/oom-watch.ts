import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import type { Clock } from '../../base/index.ts';
import { BoundedMap } from '../../base/index.ts';
import { findFirstProcess } from './first-process.ts';
import type { GroupPath } from './group-files.ts';
import { KernelLog } from './kernel-log.ts';
import type { OomEnd, OomEntry, OomLedger } from './oom-ledger.ts';
import type { KilledProcess } from './oom-records.ts';
import type { OomKills, WatchedContainer } from './oom-text.ts';
import { describeEnd } from './oom-text.ts';
import type { PodGroups } from './pod-groups.ts';

export interface OomWatchOptions {
  readonly groups: PodGroups;
  readonly ledger: OomLedger;
  /** Those that run, and those that have ended, of all pods or of one. */
  containers(podUid?: string): Iterable<WatchedContainer>;
  /** Whether a container that is missing there is gone. */
  isComplete(): boolean;
  report(kills: OomKills): void;
  readonly clock: Clock;
  /** Default: the kernel's own. */
  readonly log?: KernelLog;
  /** Microseconds since the machine began, by the clock of the log; default: the monotonic one. */
  uptimeUs?(): number;
  /** Default `/proc`. */
  readonly procDir?: string;
}

/** How often the kernel's log is read, which costs one call. */
const readMs = 2000;
/** Every how many reads all counters are compared: for what the log does not tell. */
const readsPerLook = 15;
/** The counter moves before the log tells which process it was. */
const settleMs = 100;
/** Where the first process is not known, a kill so long before the end, or after it by the clock of the log, was its cause. */
const nearMs = 5000;
/** A process that was killed ends its container with it. */
const killedExitCode = 137;
const maxContainers = 4096;
/** Of one container, until it is asked for. */
const maxKills = 64;

interface Known {
  readonly path: GroupPath | undefined;
  readonly firstPid: number | undefined;
  readonly watcher: FSWatcher | undefined;
  /** At the last look. */
  counter: number | undefined;
}

const none: OomEntry = { kills: 0, logged: 0, sequence: -1 };

/**
 * Notices that the kernel kills processes of containers for want of memory: in the kernel's log, by the counters of groups, and by
 * what the runtime says of an end. Each of the three tells of some kills and never of too many, so the greatest number is what
 * is known, and what exceeds the number that was reported is new: no kill is reported twice, whichever way it is found.
 *
 * The log is read every 2 s and when a container has ended; counters are compared every 30 s, and with version 2 at once.
 */
export class OomWatch implements Disposable {
  readonly #options: OomWatchOptions;
  readonly #log: KernelLog;
  /** What the log tells, by the id of the container. */
  readonly #killed = new BoundedMap<string, readonly KilledProcess[]>({ maxEntries: maxContainers });
  readonly #unsettled = new Set<string>();
  readonly #known = new Map<string, Known>();
  /** With a new ledger: of containers that were started before, nobody knows what was reported. */
  readonly #sinceMs: number;

  constructor(options: OomWatchOptions) {
    this.#options = options;
    this.#log = options.log ?? new KernelLog();
    this.#sinceMs = options.clock.now();
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (let round = 0; !signal.aborted; round += 1) {
      if (round % readsPerLook === 0) this.look();
      else this.poll();
      await this.#options.clock.sleep(readMs, signal);
    }
    for (const id of this.#known.keys()) this.#forget(id);
  }

  [Symbol.dispose](): void {
    for (const id of this.#known.keys()) this.#forget(id);
    this.#log[Symbol.dispose]();
  }

  /** What is known of each container, and the path of its group where that is known. */
  totals(): { readonly container: WatchedContainer; readonly kills: number; readonly path: string }[] {
    return [...this.#options.containers()].map((container) => {
      const path = this.#known.get(container.id)?.path;
      const kills = this.#options.ledger.get(container.id)?.kills ?? 0;
      return { container, kills, path: path === undefined ? '' : `/${path.join('/')}` };
    });
  }

  /** Looks at everything, and reports what is new. */
  look(): void {
    this.#read();
    this.#unsettled.clear();
    const ids = new Set<string>();
    for (const container of this.#options.containers()) {
      ids.add(container.id);
      this.#settle(container, true);
    }
    if (!this.#options.isComplete()) return;
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#forget(id);
    this.#options.ledger.keepOnly(ids);
  }

  /** Reads the kernel's log, and looks at the containers of which it tells. */
  poll(): void {
    this.#read();
    if (this.#unsettled.size === 0) return;
    const ids = new Set(this.#unsettled);
    this.#unsettled.clear();
    for (const container of this.#options.containers()) if (ids.has(container.id)) this.#settle(container);
  }

  /** Looks at containers of the pod that are new, or have ended. */
  podChanged(podUid: string): void {
    this.#read();
    for (const container of this.#options.containers(podUid)) {
      const isNew = container.state === 'exited' || !this.#known.has(container.id);
      if (isNew || this.#unsettled.has(container.id)) this.#settle(container);
    }
  }

  /** What a kill had to do with the end of a container that has ended; undefined: nothing. */
  endOf(container: WatchedContainer): OomEnd | undefined {
    const { id, exitCode, reason } = container;
    const kept = this.#options.ledger.get(id)?.end;
    if (kept !== undefined || container.state !== 'exited' || exitCode === 0) return kept;
    this.#read();
    const { firstPid } = this.#known.get(id) ?? {};
    const killed = this.#killed.get(id) ?? [];
    const near = killed.filter((process) => this.#isNear(process, container));
    const first = killed.findLast(({ pid }) => pid === firstPid);
    const cause = firstPid === undefined ? near.at(-1) : first;
    const isSaid = reason === 'OOMKilled';
    const process = cause ?? near.at(-1) ?? (isSaid ? killed.at(-1) : undefined);
    if (process === undefined && !isSaid) return undefined;
    const processes = process === undefined ? [] : [process];
    const isKilled = cause !== undefined && exitCode === killedExitCode;
    return { isKilled, message: describeEnd(this.#factsOf(container, processes)) };
  }

  #isNear({ uptimeUs }: KilledProcess, { finishedMs }: WatchedContainer): boolean {
    const { clock, uptimeUs: now = monotonicUs } = this.#options;
    const atMs = clock.now() - (now() - uptimeUs) / 1000;
    return finishedMs !== undefined && Math.abs(finishedMs - atMs) <= nearMs;
  }

  #read(): void {
    for (const process of this.#log.read()) {
      const ids = new Set(process.group.flatMap((name) => /[0-9a-f]{64}/.exec(name)?.[0] ?? []));
      for (const id of ids) {
        this.#killed.set(id, [...(this.#killed.use(id) ?? []), process].slice(-maxKills));
        this.#unsettled.add(id);
      }
    }
  }

  /** `isSure`: what the counter says is reported though the log does not say it. */
  #settle(container: WatchedContainer, isSure = false): void {
    const { ledger, report } = this.#options;
    const { id, reason, startedMs = 0 } = container;
    const isOlder = ledger.isNew && startedMs < this.#sinceMs && !this.#known.has(id);
    const known = this.#know(container);
    const entry = ledger.get(id) ?? none;
    const processes = (this.#killed.get(id) ?? []).filter(({ sequence }) => sequence > entry.sequence);
    const counter = this.#counterOf(container, known);
    const logged = this.#countLogged(entry, processes.length, counter, isSure ? known : undefined);
    const isAhead = !isSure && this.#log.problem === undefined && (counter ?? 0) > logged;
    const said = reason === 'OOMKilled' ? 1 : 0;
    const kills = Math.max(entry.kills, logged, said, isAhead ? 0 : (counter ?? 0));
    if (kills === 0) return;
    const end = this.endOf(container);
    const isSame = kills === entry.kills && logged === entry.logged && end === entry.end;
    if (isSame && processes.length === 0) return;
    const sequence = processes.at(-1)?.sequence ?? entry.sequence;
    ledger.set(id, { kills, logged, sequence, ...(end === undefined ? {} : { end }) });
    const count = kills - entry.kills;
    if (count === 0 || isOlder) return;
    report({ ...this.#factsOf(container, processes), count });
  }

  /**
   * With those of which the log will not tell any more: what the counter has been ahead by since the look before is lost. So a
   * later kill that the log tells of is a new one.
   */
  #countLogged(
    entry: OomEntry,
    count: number,
    counter: number | undefined,
    known: Known | undefined,
  ): number {
    const logged = entry.logged + count;
    if (known === undefined || counter === undefined) return logged;
    const isOld = known.counter === counter;
    known.counter = counter;
    return isOld ? Math.max(logged, counter) : logged;
  }

  #factsOf(container: WatchedContainer, processes: readonly KilledProcess[]): Omit<OomKills, 'count'> {
    const { groups } = this.#options;
    const { path, firstPid } = this.#known.get(container.id) ?? {};
    const isRunning = container.state === 'running';
    const memory = isRunning && path !== undefined ? groups.files.memory(path) : undefined;
    return {
      ...{ container, processes, firstPid },
      usageBytes: memory?.usageBytes,
      limitBytes: memory === undefined ? container.limitBytes : memory.limitBytes,
      source: isRunning ? 'counter' : 'runtime',
      logProblem: this.#log.problem,
    };
  }

  #counterOf({ state }: WatchedContainer, { path }: Known): number | undefined {
    return state === 'running' && path !== undefined ? this.#options.groups.files.oomKills(path) : undefined;
  }

  #know(container: WatchedContainer): Known {
    const { groups, procDir } = this.#options;
    const { id, podUid, state } = container;
    const known = this.#known.get(id);
    if (known?.path !== undefined || (known !== undefined && state === 'exited')) return known;
    const path = state === 'running' ? groups.containerPathOf(podUid, id) : undefined;
    const made: Known = {
      path,
      firstPid: path && findFirstProcess(groups.files.processes(path), procDir),
      watcher: path && this.#watch(container, path),
      counter: undefined,
    };
    if (this.#known.size < maxContainers) this.#known.set(id, made);
    return made;
  }

  /** With version 2 the kernel says at once that the counter has moved. */
  #watch(container: WatchedContainer, path: GroupPath): FSWatcher | undefined {
    const { groups, clock } = this.#options;
    const folder = groups.files.version === 2 ? groups.files.folder('memory', path) : undefined;
    if (folder === undefined) return undefined;
    let isDue = false;
    const settle = async () => {
      if (isDue) return;
      isDue = true;
      await clock.sleep(settleMs);
      isDue = false;
      this.#read();
      if (this.#known.has(container.id)) this.#settleNow(container);
    };
    try {
      const watcher = watch(`${folder}/memory.events`, { persistent: false }, () => void settle());
      return watcher.on('error', () => watcher.close()); // looks go on
    } catch {
      return undefined;
    }
  }

  /** As it is by now. */
  #settleNow({ id, podUid }: WatchedContainer): void {
    for (const container of this.#options.containers(podUid))
      if (container.id === id) this.#settle(container, true);
  }

  #forget(id: string): void {
    this.#known.get(id)?.watcher?.close();
    this.#known.delete(id);
  }
}

function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
