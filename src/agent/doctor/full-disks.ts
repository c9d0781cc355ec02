import type { Clock, Logger } from '../../base/index.ts';
import type { StatFs } from '../node/index.ts';
import { createDiskProbes } from '../node/index.ts';
import type { FullDisk } from '../pods/explain/index.ts';
import { createDiskChecks, isFull } from './checks/disks.ts';
import type { Host } from './host.ts';
import { runChecks } from './run.ts';
import type { Check, Row } from './types.ts';

export interface FullDisksOptions {
  readonly rootDir: string;
  readonly podLogsDir: string;
  /** The folder of the runtime's images and containers; undefined while it is not known. */
  runtimeFolder(): string | undefined;
  readonly host: Host;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default that of node:fs. */
  statfs?(path: string): Promise<StatFs>;
}

/** To find out who fills a disk costs a look at every file: one answer serves all that ask within this time. */
const keptMs = 15_000;

interface Answer {
  readonly atMs: number;
  /** Of the checks of the disks that were full. */
  readonly ids: string;
  readonly disks: Promise<readonly FullDisk[]>;
}

/** Which of the disks that pods are written to are full, and by which pods. */
export class FullDisks {
  readonly #options: FullDisksOptions;
  readonly #probe: ReturnType<typeof createDiskProbes>;
  readonly #forever = new AbortController().signal;
  #last: Answer | undefined;

  constructor(options: FullDisksOptions) {
    this.#options = options;
    this.#probe = createDiskProbes(options);
  }

  /** Which are full is as now. Within the time that a check of `nodeward doctor` may take; never rejects. */
  async list(): Promise<readonly FullDisk[]> {
    const { host, clock } = this.#options;
    const checks = await this.#checksOfFull();
    if (checks.length === 0) return [];
    const ids = checks.map(({ id }) => id).join(' ');
    const atMs = clock.monotonicMs();
    if (this.#last?.ids !== ids || atMs - this.#last.atMs > keptMs) {
      const rows = runChecks(checks, host, clock, this.#forever);
      const disks = rows.then(joinFailed).catch(() => []);
      this.#last = { atMs, ids, disks };
    }
    return await this.#last.disks;
  }

  async #checksOfFull(): Promise<Check[]> {
    const { rootDir, podLogsDir, runtimeFolder } = this.#options;
    const folder = runtimeFolder();
    const places = { 'root-dir-disk': rootDir, 'pod-logs-disk': podLogsDir, 'runtime-disk': folder };
    const spaces = await this.#probe(Object.values(places), this.#forever);
    const full = Object.keys(places).filter((_, index) => {
      const space = spaces[index];
      if (space === undefined) return false;
      const { availableBytes: freeBytes, inodes, inodesFree: freeInodes } = space;
      return isFull({ freeBytes, inodes, freeInodes });
    });
    const checks = createDiskChecks(rootDir, podLogsDir, async () => ({ folder, fault: undefined }));
    return checks.filter(({ id }) => full.includes(id));
  }
}

/** Folders on one disk are one entry. */
function joinFailed(rows: readonly Row[]): FullDisk[] {
  const failed = rows.filter(({ verdict }) => verdict === 'failed');
  return [...Map.groupBy(failed, ({ found }) => found)].map(([found, same]) => {
    const advice = same[0]?.advice;
    const what = same.map(({ title }) => title).join(', ');
    return { what, found, ...(advice === undefined ? {} : { advice }) };
  });
}
