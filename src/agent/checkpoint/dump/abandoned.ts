/**
 * Which containers have had a dump that was given up a short while ago. containerd clears away what such a dump has
 * written behind everybody's back, in a folder that all dumps of a container use, and makes the next one fail that
 * begins meanwhile (seen with 2.1 after a dump of 512 MiB: `open …/ctrd-checkpoint/status: no such file or directory`).
 * So a failure soon after is followed by another try, also when this agent was started again in between: it is noted
 * in a file.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, errorCode, readRegularFile, writeFileAtomic } from '../../../base/index.ts';

export interface Abandoned {
  /** Notes that a dump of the container was given up just now. Never rejects: it is a help, not more. */
  note(id: string): Promise<void>;
  /** Until when a failure may come from that, on the monotonic clock; undefined when it cannot. */
  untilMs(id: string): number | undefined;
  /** Reads what an earlier process has noted. Never rejects. */
  load(): Promise<void>;
}

export const abandonedFile = '.abandoned.json';
/** How long the clearing may take. */
const clearingMs = 30_000;
const limitBytes = 256 * 1024;

/** `folder` is that of the checkpoints, which exists whenever something is noted. */
export function rememberAbandoned(folder: string, clock: Clock, log: Logger): Abandoned {
  const path = join(folder, abandonedFile);
  const until = new Map<string, number>();
  let writing = Promise.resolve();

  async function save(): Promise<void> {
    const left = [...until].map(([id, ms]) => [
      id,
      new Date(clock.now() + ms - clock.monotonicMs()).toISOString(),
    ]);
    try {
      await writeFileAtomic(path, `${JSON.stringify(Object.fromEntries(left))}\n`);
    } catch (error) {
      log.warn({ path, error: describeError(error) }, 'cannot note that a checkpoint was given up');
    }
  }

  return {
    note(id) {
      const now = clock.monotonicMs();
      for (const [other, ms] of until) if (ms < now) until.delete(other);
      until.set(id, now + clearingMs);
      writing = writing.then(save);
      return writing;
    },
    untilMs(id) {
      const ms = until.get(id);
      return ms !== undefined && ms >= clock.monotonicMs() ? ms : undefined;
    },
    async load() {
      try {
        const noted: unknown = JSON.parse(
          (await readRegularFile(path, { limitBytes, noFollow: true })).toString(),
        );
        for (const [id, time] of Object.entries(isRecord(noted) ? noted : {})) {
          const leftMs = Date.parse(String(time)) - clock.now();
          if (leftMs > 0 && leftMs <= clearingMs) until.set(id, clock.monotonicMs() + leftMs);
        }
        if (until.size === 0) await rm(path, { force: true });
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') await rm(path, { force: true }).catch(() => undefined);
      }
    },
  };
}
