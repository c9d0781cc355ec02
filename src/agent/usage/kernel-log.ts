import { closeSync, constants, openSync, readSync } from 'node:fs';

/** A process that the kernel has killed for want of memory. */
export interface KilledProcess {
  readonly pid: number;
  /** As the kernel has it: at most 15 bytes. */
  readonly name: string;
  /** What it held: anonymous, file and shared memory. */
  readonly residentBytes: number;
  /** The names of the groups that it was in, from the root on. */
  readonly group: readonly string[];
}

/** The kernel's buffer has some ten thousand records. */
const maxRecords = 50_000;
const maxRecordBytes = 8192;

const killer = /\boom-kill:.*\btask_memcg=([^,]*),task=(.*),pid=(\d{1,10}),uid=\d+$/;
const killed =
  /\bKilled process (\d{1,10}) \(.*\) .*\banon-rss:(\d{1,16})kB, file-rss:(\d{1,16})kB, shmem-rss:(\d{1,16})kB/;

/** Of records as `/dev/kmsg` has them: the killed processes in their order. Whatever else stands there is passed over. */
export function findKilledProcesses(records: Iterable<string>): KilledProcess[] {
  const found: KilledProcess[] = [];
  let last: { group: string; name: string; pid: number } | undefined;
  for (const record of records) {
    const [, group = '', name = '', pid] = killer.exec(firstLine(record)) ?? [];
    if (pid !== undefined) last = { group, name, pid: Number(pid) };
    const [, victim, ...sizes] = killed.exec(firstLine(record)) ?? [];
    if (victim === undefined || last?.pid !== Number(victim)) continue;
    const residentBytes = sizes.reduce((sum, kibibytes) => sum + Number(kibibytes) * 1024, 0);
    const path = last.group.split('/').filter((part) => part !== '');
    found.push({ pid: last.pid, name: last.name, residentBytes, group: path });
    last = undefined;
  }
  return found;
}

/** What follows the first line are fields of devices. */
function firstLine(record: string): string {
  const end = record.indexOf('\n');
  return end === -1 ? record : record.slice(0, end);
}

/** All records that the kernel still has; none where they may not be read. Waits for nothing. */
export function readKernelLog(path = '/dev/kmsg'): string[] {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return [];
  }
  const buffer = Buffer.allocUnsafe(maxRecordBytes);
  const records: string[] = [];
  try {
    for (let count = 0; count < maxRecords; count += 1) {
      const length = readRecord(descriptor, buffer);
      if (length === 0) break;
      const text = buffer.toString('utf8', 0, length);
      if (/oom-kill:|Killed process/.test(text)) records.push(text);
    }
  } finally {
    closeSync(descriptor);
  }
  return records;
}

/** 0: there is no more. A record that was overwritten meanwhile (EPIPE) is followed by the oldest that is left. */
function readRecord(descriptor: number, buffer: Buffer): number {
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      return readSync(descriptor, buffer, 0, buffer.length, null);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) return 0;
    }
  }
  return 0;
}
