import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from './mounts.ts';

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * A fresh, empty folder below `parent` with mode 0700, removed with all that is in it on disposal. What is mounted in it, such as
 * the volumes of pods, which go on when their agent ends, is unmounted first.
 */
export async function temporaryFolder(prefix = 'nodeward-', parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix));
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      await unmountBelow(path);
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
