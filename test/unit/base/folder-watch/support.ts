import { Writable } from 'node:stream';
import type { FolderDiff, FolderWatch, FolderWatchOptions } from '../../../../src/base/folder-watch/index.ts';
import { watchFolder } from '../../../../src/base/folder-watch/index.ts';
import { createLogger, systemClock } from '../../../../src/base/index.ts';

export interface Followed extends AsyncDisposable {
  readonly watch: FolderWatch;
  readonly diffs: readonly FolderDiff[];
  /** What was logged. */
  readonly lines: readonly string[];
  paths(): readonly string[];
}

/** A folder that is followed until disposal; resolves when it has been looked at. It looks again in an hour only. */
export async function follow(
  options: Partial<FolderWatchOptions> & Pick<FolderWatchOptions, 'folder'>,
): Promise<Followed> {
  const lines: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const watch = watchFolder({
    settleMs: 10,
    pollMs: 20,
    rescanMs: 3_600_000,
    clock: systemClock,
    log: createLogger({ format: 'text', level: 'debug', output }),
    ...options,
  });
  const diffs: FolderDiff[] = [];
  watch.onChange((diff) => void diffs.push(diff));
  const stop = new AbortController();
  const started = Promise.withResolvers<void>();
  const running = watch.run(stop.signal, started.resolve);
  await Promise.race([started.promise, running]);
  return {
    watch,
    diffs,
    lines,
    paths: () => [...(watch.view?.entries.keys() ?? [])],
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
