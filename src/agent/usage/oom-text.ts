import { formatBytes } from '../node/index.ts';
import type { KilledProcess } from './oom-records.ts';

export interface WatchedContainer {
  readonly podUid: string;
  readonly id: string;
  readonly name: string;
  readonly state: 'running' | 'exited';
  /** Wall clock, milliseconds. */
  readonly startedMs: number | undefined;
  readonly finishedMs: number | undefined;
  readonly exitCode: number;
  /** The runtime's, such as `OOMKilled`. */
  readonly reason: string;
  /** By the runtime; undefined: none, or it does not say. */
  readonly limitBytes: number | undefined;
}

/** Processes of a container that the kernel has killed for want of memory. */
export interface OomKills {
  readonly container: WatchedContainer;
  /** As the kernel counts: one that it has killed twice counts twice. */
  readonly count: number;
  /** Those of which the kernel's log tells. */
  readonly processes: readonly KilledProcess[];
  /** Undefined: not known. */
  readonly firstPid: number | undefined;
  /** Of the container, just after; undefined too where it has ended. */
  readonly usageBytes: number | undefined;
  readonly limitBytes: number | undefined;
  /** By what it was found where the log does not tell of it. */
  readonly source: 'counter' | 'runtime';
  /** Why the log cannot be read; undefined: it can. */
  readonly logProblem: string | undefined;
}

/** What is known of kills beside their number. */
export type OomFacts = Omit<OomKills, 'count'>;

/** For an Event: `the kernel killed the process "java" (pid 77, 63Mi in memory) of container app for want of memory: …` */
export function describeKills({ count, ...facts }: OomKills): string {
  const { container, processes, usageBytes, firstPid } = facts;
  const inUse = usageBytes === undefined ? '' : `, and ${readable(usageBytes)} are in use now`;
  const runsOn = container.state === 'running' && firstPid !== undefined && processes.length > 0;
  const consequence = hasFirst(facts)
    ? '; it was its first process'
    : runsOn
      ? '; the container runs on'
      : '';
  const whom = describeProcesses(processes, count);
  const what = `the kernel killed ${whom} of container ${container.name} for want of memory`;
  return `${what}: ${describeShortage(facts)}${inUse}${consequence}${describeSource(facts)}`;
}

/** For the status of a container that has ended: which process was killed, and how much memory there was. */
export function describeEnd(facts: OomFacts): string {
  const process = chosen(facts.processes);
  const whom =
    process === undefined
      ? 'a process of it'
      : `its ${hasFirst(facts) ? 'first ' : ''}process ${describeProcess(process)}`;
  return `the kernel killed ${whom} for want of memory: ${describeShortage(facts)}${describeSource(facts)}`;
}

/** Whether the first process of the container is among those that were killed. */
export function hasFirst({ processes, firstPid }: Pick<OomFacts, 'processes' | 'firstPid'>): boolean {
  return firstPid !== undefined && processes.some(({ pid }) => pid === firstPid);
}

/** The last one that was not killed only because its group was. */
function chosen(processes: readonly KilledProcess[]): KilledProcess | undefined {
  return processes.findLast(({ isWithGroup }) => !isWithGroup) ?? processes.at(-1);
}

function describeProcesses(processes: readonly KilledProcess[], count: number): string {
  const process = chosen(processes);
  if (process === undefined) return count === 1 ? 'a process' : `${count} processes`;
  const others = new Set(processes.filter(({ isWithGroup }) => isWithGroup).map(({ pid }) => pid)).size;
  const text = `the process ${describeProcess(process)}`;
  if (others > 0) return `${text} and all others (${others})`;
  return count === 1 ? text : `${count} processes, at last ${text}`;
}

function describeProcess({ name, pid, residentBytes }: KilledProcess): string {
  return `${JSON.stringify(name)} (pid ${pid}, ${readable(residentBytes)} in memory)`;
}

function describeShortage({ container, processes, limitBytes }: OomFacts): string {
  const process = chosen(processes);
  if (process !== undefined) return describeKnownShortage(process, container, limitBytes);
  if (limitBytes === undefined) return 'it has no limit of memory of its own';
  return `its limit of memory is ${readable(limitBytes)}`;
}

/** A pod of one container has the same limit as that: which of them the kernel meets first says nothing. */
function describeKnownShortage(
  { group: own, shortage: { group, limitBytes } }: KilledProcess,
  { id }: WatchedContainer,
  ownLimitBytes: number | undefined,
): string {
  if (group === undefined) return 'the machine had no memory left';
  const at = own.findIndex((name) => name.includes(id));
  const isSame = limitBytes !== undefined && limitBytes === ownLimitBytes;
  const whose =
    at !== -1 && (group.length > at || isSame)
      ? 'its limit of memory'
      : group.length === at
        ? 'the limit of memory of its pod'
        : `the limit of memory of the group /${group.join('/')}`;
  return `${whose} ${limitBytes === undefined ? 'was reached' : `is ${readable(limitBytes)}`}`;
}

function describeSource({ processes, source, logProblem }: OomFacts): string {
  if (processes.length > 0) return '';
  const by = source === 'counter' ? 'the counter of its control group' : 'what the container runtime says';
  const why =
    logProblem === undefined
      ? "the kernel's log does not tell of it"
      : `the kernel's log, /dev/kmsg, cannot be read (${logProblem})`;
  return `; found by ${by}: which process is not known, since ${why}`;
}

/** Down to whole mebibytes, where there are some. */
function readable(bytes: number): string {
  const unit = bytes >= 2 ** 20 ? 2 ** 20 : 1024;
  return formatBytes(Math.floor(bytes / unit) * unit);
}
