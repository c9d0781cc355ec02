import { execFile } from 'node:child_process';
import { weightOf } from './cpu-share.ts';
import type { GroupLimits } from './pod-limits.ts';

/*
 * With the driver systemd the groups of pods are slices: systemd owns them, and writes its own values to them when it reads
 * its configuration again. So it has to know the limits, or they would be lost then. They are set by its own systemctl, which
 * needs no message bus, and only until the machine's next start.
 */

export interface SliceManager {
  /** Starts the slice, or changes the limits of one that runs; what is undefined is left as it is. */
  apply(slice: string, limits: GroupLimits): Promise<void>;
  /** Stops the slice with all in it and forgets its limits; one that does not run is no error. */
  stop(slice: string): Promise<void>;
}

export interface CommandOutcome {
  /** Undefined: it was ended by a signal, or could not be started. */
  readonly code: number | null | undefined;
  readonly stderr: string;
}

/** Runs systemctl with these arguments. */
export type RunSystemctl = (argv: readonly string[]) => Promise<CommandOutcome>;

/** `version` is that of the cgroups: systemd names some limits by it. */
export function systemdSlices(version: 1 | 2, run: RunSystemctl = runSystemctl): SliceManager {
  const check = async (what: string, ...argv: string[]): Promise<void> => {
    const { code, stderr } = await run(argv);
    if (code === 0) return;
    const said = stderr.trim().slice(0, 500);
    throw new Error(`${what}: ${said === '' ? `systemctl ended with ${code ?? 'a signal'}` : said}`);
  };
  return {
    async apply(slice, limits) {
      const properties = propertiesOf(version, limits);
      if (properties.length > 0) {
        await check(`cannot limit ${slice}`, 'set-property', '--runtime', slice, ...properties);
      }
      await check(`cannot start ${slice}`, 'start', slice);
    },
    async stop(slice) {
      await check(`cannot stop ${slice}`, 'stop', slice);
      // without a reload of all units, which takes long where there are many
      await check(`cannot forget the limits of ${slice}`, 'revert', '--no-reload', slice);
    },
  };
}

function propertiesOf(version: 1 | 2, { cpuShares, cpuQuota, memoryBytes, pids }: GroupLimits): string[] {
  const cpu = version === 2 && cpuShares !== undefined ? weightOf(cpuShares) : cpuShares;
  const all: [string, number | string | undefined][] = [
    [version === 2 ? 'CPUWeight' : 'CPUShares', cpu],
    ['CPUQuota', cpuQuota && `${toPercent(cpuQuota)}%`],
    ['CPUQuotaPeriodSec', cpuQuota && `${cpuQuota.periodUs}us`],
    [version === 2 ? 'MemoryMax' : 'MemoryLimit', memoryBytes],
    ['TasksMax', pids],
  ];
  return all.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
}

/** Whole ones: systemd keeps no more, and would round down. */
function toPercent({ quotaUs, periodUs }: { readonly quotaUs: number; readonly periodUs: number }): number {
  return Math.ceil((quotaUs * 100) / periodUs);
}

const commandTimeoutMs = 30_000;
const maxOutputBytes = 64 * 1024;

function runSystemctl(argv: readonly string[]): Promise<CommandOutcome> {
  const options = { timeout: commandTimeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes } as const;
  return new Promise((resolve) => {
    execFile('systemctl', argv, options, (error, _, stderr) => {
      if (error === null) resolve({ code: 0, stderr });
      else
        resolve({
          code: typeof error.code === 'number' ? error.code : undefined,
          stderr: stderr || error.message,
        });
    });
  });
}
