/** What the process of a group tells the runner: lines of JSON through a pipe that has this number in that process. */
import type { Counts } from '../counts.ts';

export const reportDescriptor = 3;

/** Sent when the tests of one file have ended. */
export interface FileReport {
  readonly file: string;
  readonly counts: Counts;
  readonly seconds: number;
}

/** Sent last: a process that ends without it was ended too early. */
export interface EndReport {
  /** Whether node:test calls all of it passed. */
  readonly success: boolean;
}

export type GroupReport = FileReport | EndReport;
