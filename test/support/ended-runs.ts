import { rm } from 'node:fs/promises';
import { releaseFolder } from './leftovers.ts';
import { sendSignal } from './process-table.ts';
import type { TestRun } from './test-run.ts';
import { foldersOfRuns, formatRun, isRunning, markedProcesses, parseRun } from './test-run.ts';
import { waitFor } from './wait-for.ts';

const maxEndMs = 15_000;

/**
 * Ends and removes what is left of a run whose own process has gone: its processes, and the cgroups, mounts and files
 * of its temporary folders. May be done by several at once.
 */
export async function removeRemains(run: TestRun): Promise<void> {
  const allEnded = async (): Promise<boolean> => {
    const own = (await markedProcesses()).filter(({ marker }) => sameRun(parseRun(marker), run));
    for (const { pid } of own) sendSignal(pid, 'SIGKILL');
    return own.length === 0;
  };
  await waitFor('processes to end', allEnded, { timeoutMs: maxEndMs, intervalMs: 50 }).catch(() => undefined);
  for (const { path } of (await foldersOfRuns()).filter((each) => sameRun(each.run, run))) {
    const released = await releaseFolder(path).catch(() => undefined);
    if (released !== undefined) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Does so for every run whose process no longer lives. */
export async function removeRemainsOfEndedRuns(): Promise<void> {
  const marked = (await markedProcesses()).map(({ marker }) => parseRun(marker));
  const all = [...marked, ...(await foldersOfRuns()).map(({ run }) => run)].filter(
    (run) => run !== undefined,
  );
  for (const run of new Map(all.map((each) => [formatRun(each), each])).values()) {
    if (!(await isRunning(run))) await removeRemains(run);
  }
}

function sameRun(a: TestRun | undefined, b: TestRun): boolean {
  return a !== undefined && a.pid === b.pid && a.startTime === b.startTime;
}
