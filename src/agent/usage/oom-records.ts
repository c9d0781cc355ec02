/** A process that the kernel has killed for want of memory, as its log tells of it. */
export interface KilledProcess {
  /** The number of the record: it grows as long as the machine runs. */
  readonly sequence: number;
  /** Microseconds since the machine began, by the clock of the log. */
  readonly uptimeUs: number;
  readonly pid: number;
  /** As the kernel has it: at most 15 bytes. */
  readonly name: string;
  /** What it held: anonymous, file and shared memory. */
  readonly residentBytes: number;
  /** The names of the groups that it was in, from the root on. */
  readonly group: readonly string[];
  /** It was not chosen itself: its group is killed as a whole (`memory.oom.group`). */
  readonly isWithGroup: boolean;
  readonly shortage: Shortage;
}

/** What had no memory left. */
export interface Shortage {
  /** The group that had reached its limit; undefined: the machine as a whole. */
  readonly group: readonly string[] | undefined;
  /** Of that group, in the moment of the kill. */
  readonly usageBytes: number | undefined;
  readonly limitBytes: number | undefined;
}

/** What stands in the log of the kill that is under way. */
interface Victim {
  readonly pid: number;
  readonly name: string;
  readonly group: readonly string[];
  readonly shortage: Shortage;
}

type Figures = Pick<Shortage, 'usageBytes' | 'limitBytes'>;

const header = /^(\d{1,10}),(\d{1,16}),(\d{1,16}),[^;\n]*;([^\n]*)/;
const figures = /^memory: usage (\d{1,16})kB, limit (\d{1,16})kB,/;
const chosen = /^oom-kill:(.*)task_memcg=([^,]*),task=(.*),pid=(\d{1,10}),uid=\d+$/s;
const exhausted = /,oom_memcg=([^,]*),$/;
const killed =
  /\bKilled process (\d{1,10}) \((.*)\),? (?:UID \d+, )?total-vm:\d+kB, anon-rss:(\d{1,16})kB, file-rss:(\d{1,16})kB(?:, shmem-rss:(\d{1,16})kB)?/s;
const wholeGroup = /^Tasks in (.*) are going to be killed due to memory\.oom\.group set$/;

/** Whether a record may say something of a kill: a kernel writes thousands of others. */
export function tellsOfKill(record: string): boolean {
  return /oom-kill|memory: usage|Killed process|memory\.oom\.group/.test(record);
}

/**
 * Reads of kills in the kernel's log, as `/dev/kmsg` has it (linux: Documentation/ABI/testing/dev-kmsg), with the words of
 * Linux 5 and 6. The kernel carries out one kill at a time: first comes what was short, then who was chosen, then that it was
 * killed, and who else of its group. Of a kill of which the beginning is missing nothing is said: the kernel leaves it out where
 * kills follow each other quickly. Records that are not of the kernel, such as what a program has written there, do not count.
 */
export class OomRecords {
  #figures: Figures | undefined;
  #victim: Victim | undefined;
  #rest: { readonly victim: Victim; readonly group: readonly string[] } | undefined;

  /** Returns the process that the record says was killed. */
  take(record: string): KilledProcess | undefined {
    const [, facility = '', sequence = '', uptimeUs = '', escaped] = header.exec(record) ?? [];
    if (escaped === undefined || Number(facility) >= 8) return undefined;
    const text = unescapeRecord(escaped);
    if (this.#begin(text)) return undefined;
    const process = this.#end(text);
    return process && { sequence: Number(sequence), uptimeUs: Number(uptimeUs), ...process };
  }

  /** Forgets what has begun: records are missing. */
  reset(): void {
    this.#figures = undefined;
    this.#victim = undefined;
    this.#rest = undefined;
  }

  /** Returns whether the record is of those that come before a kill. */
  #begin(text: string): boolean {
    const [, usage, limit] = figures.exec(text) ?? [];
    if (usage !== undefined) {
      this.reset();
      this.#figures = { usageBytes: toBytes(usage), limitBytes: toLimit(limit) };
      return true;
    }
    const [, before = '', group, name = '', pid] = chosen.exec(text) ?? [];
    if (group !== undefined) {
      const [, limited] = exhausted.exec(before) ?? [];
      const { usageBytes, limitBytes } = (limited === undefined ? undefined : this.#figures) ?? {};
      const shortage = { group: limited === undefined ? undefined : toPath(limited), usageBytes, limitBytes };
      this.reset();
      this.#victim = { pid: Number(pid), name, group: toPath(group), shortage };
      return true;
    }
    const [, whole] = wholeGroup.exec(text) ?? [];
    if (whole === undefined) return false;
    this.#rest = this.#victim && { victim: this.#victim, group: toPath(whole) };
    return true;
  }

  #end(text: string): Omit<KilledProcess, 'sequence' | 'uptimeUs'> | undefined {
    const [, pid, name = '', ...sizes] = killed.exec(text) ?? [];
    if (pid === undefined) return undefined;
    const process = { pid: Number(pid), residentBytes: sizes.reduce((sum, size) => sum + toBytes(size), 0) };
    if (this.#rest !== undefined) {
      const { victim, group } = this.#rest;
      return { ...process, name, group, isWithGroup: process.pid !== victim.pid, shortage: victim.shortage };
    }
    if (this.#victim?.pid !== process.pid) return undefined;
    return { ...process, ...this.#victim, isWithGroup: false };
  }
}

/** Version 1 and 2 write "no limit" as a number of pages near 2^63 bytes. */
function toLimit(kibibytes: string | undefined): number | undefined {
  const bytes = toBytes(kibibytes);
  return bytes >= 2 ** 62 ? undefined : bytes;
}

const toBytes = (kibibytes: string | undefined): number => Number(kibibytes ?? 0) * 1024;

const toPath = (path: string): string[] => path.split('/').filter((name) => name !== '');

/** Bytes that are not printable, and the backslash, stand as `\xHH`. */
function unescapeRecord(text: string): string {
  if (!text.includes('\\x')) return text;
  const bytes = text.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
