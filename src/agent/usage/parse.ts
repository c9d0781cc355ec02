import { findKernelCount, parseKernelCount } from '../../base/index.ts';
import type { IoUsage, Pressure, PressureFigures } from './figures.ts';

/*
 * The files of control groups: cgroups(7), and cgroup-v2.rst, memory.rst and psi.rst of the kernel. What is not in the form
 * that the kernel writes is unknown, never a guess.
 */

/** Version 1 writes "no limit" as 2^63 - 1 rounded down to a page. */
const minUnlimited = 2 ** 62;

/** Infinity where there is no limit: `max`, and the number that stands for it in version 1. */
export function parseLimit(text: string | undefined): number | undefined {
  const limit = text?.trim() === 'max' ? Number.POSITIVE_INFINITY : parseKernelCount(text);
  return limit !== undefined && limit >= minUnlimited ? Number.POSITIVE_INFINITY : limit;
}

/** `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same with `full`. */
export function parsePressure(text: string | undefined): Pressure | undefined {
  const lines = (text ?? '').split('\n').slice(0, 4);
  const some = pressureIn(lines, 'some');
  return some === undefined ? undefined : { some, full: pressureIn(lines, 'full') };
}

const pressureLine =
  /^(?:some|full) avg10=(\d{1,3}\.\d\d) avg60=(\d{1,3}\.\d\d) avg300=(\d{1,3}\.\d\d) total=(\d{1,20})$/;

function pressureIn(lines: readonly string[], word: string): PressureFigures | undefined {
  const found = pressureLine.exec(lines.find((line) => line.startsWith(`${word} `)) ?? '');
  const totalMicros = parseKernelCount(found?.[4]);
  if (found === null || totalMicros === undefined) return undefined;
  return { totalMicros, avg10: Number(found[1]), avg60: Number(found[2]), avg300: Number(found[3]) };
}

/** `io.stat` of version 2: `8:0 rbytes=1 wbytes=2 rios=3 …`, a line for each device. */
export function parseIoStat(text: string | undefined): IoUsage | undefined {
  return text === undefined ? undefined : sumIo(text, /\brbytes=(\d+)/g, /\bwbytes=(\d+)/g);
}

/** `blkio.throttle.io_service_bytes_recursive` of version 1: `8:0 Read 1`, `8:0 Write 2`, and sums of them. */
export function parseServiceBytes(text: string | undefined): IoUsage | undefined {
  return text === undefined ? undefined : sumIo(text, /^\d+:\d+ Read (\d+)$/gm, /^\d+:\d+ Write (\d+)$/gm);
}

function sumIo(text: string, read: RegExp, written: RegExp): IoUsage | undefined {
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce(
      (total, [, count]) => total + (parseKernelCount(count) ?? Number.NaN),
      0,
    );
  const io = { readBytes: sum(read), writtenBytes: sum(written) };
  return Number.isNaN(io.readBytes + io.writtenBytes) ? undefined : io;
}

/** How often the kernel has killed a process of the group, or of one below it, because memory was short. */
export function parseOomKills(text: string | undefined): number | undefined {
  return findKernelCount(text, 'oom_kill');
}
