/**
 * The containers whose dump was given up a short while ago. containerd removes the files of such a dump later, in the
 * background, in a folder that all dumps of a container share; a dump that begins meanwhile then fails (observed with 2.1
 * after a dump of 512 MiB: `open …/ctrd-checkpoint/status: no such file or directory`). So a dump that fails soon after
 * an abandoned one is tried again. A file keeps the abandoned dumps, so that this holds after a restart of the agent, too.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, errorCode, readRegularFile, writeFileAtomic } from '../../../base/index.ts';

export interface AbandonedDumps {
  /** Notes that a dump of the container was given up just now. Never rejects: without the note only a retry is lost. */
  note(id: string): Promise<void>;
  /** Until when, on the monotonic clock, an abandoned dump may cause failures; undefined when none can. */
  untilMs(id: string): number | undefined;
  /** Reads the notes of an earlier process. Never rejects. */
  load(): Promise<void>;
}

export const abandonedFile = '.abandoned.json';
/** How long containerd's removal may take. */
const removalMs = 30_000;
const maxBytes = 256 * 1024;

/** `folder` is the folder of checkpoints, which exists whenever something is noted. */
export function rememberAbandoned(folder: string, clock: Clock, log: Logger): AbandonedDumps {
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
      until.set(id, now + removalMs);
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
          (await readRegularFile(path, { limitBytes: maxBytes, noFollow: true })).toString(),
        );
        for (const [id, time] of Object.entries(isRecord(noted) ? noted : {})) {
          const leftMs = Date.parse(String(time)) - clock.now();
          if (leftMs > 0 && leftMs <= removalMs) until.set(id, clock.monotonicMs() + leftMs);
        }
        if (until.size === 0) await rm(path, { force: true });
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') await rm(path, { force: true }).catch(() => undefined);
      }
    },
  };
}
