import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { abandonedFile } from '../../../../src/agent/checkpoint/dump/abandoned-dumps.ts';
import type { CheckpointerOptions, CheckpointSettings } from '../../../../src/agent/checkpoint/index.ts';
import { createCheckpointer, defaultSettings } from '../../../../src/agent/checkpoint/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { standInRuntime } from './stand-in-runtime.ts';

/** A checkpointer with a stand-in of a runtime and a folder of its own. */
export async function lab(options: Partial<Omit<CheckpointerOptions, 'runtime'>> = {}) {
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder());
  const runtime = standInRuntime();
  const checkpointer = setup.use(
    createCheckpointer({ runtime, rootDir: path, nodeName: 'node-1', log: silentLogger(), ...options }),
  );
  const folder = join(path, 'checkpoints');
  const resources = setup.move();
  return {
    runtime,
    checkpointer,
    rootDir: path,
    folder,
    /** Everything in the folder of checkpoints, hidden or not, but the note of what was given up. */
    left: async () => (await readdir(folder)).filter((name) => name !== abandonedFile).sort(),
    ask: (more: { timeoutMs?: number; cancel?: AbortSignal; pod?: string; container?: string } = {}) =>
      checkpointer.checkpoint({
        namespace: 'shop',
        pod: 'web',
        container: 'main',
        cancel: new AbortController().signal,
        requester: 'alice',
        ...more,
      }),
    askPod: (more: { timeoutMs?: number; cancel?: AbortSignal; pod?: string } = {}) =>
      checkpointer.checkpointPod({
        namespace: 'shop',
        pod: 'web',
        cancel: new AbortController().signal,
        requester: 'alice',
        ...more,
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The defaults with some of them changed. */
export const settings = (some: Partial<CheckpointSettings>) => () => ({ ...defaultSettings, ...some });

export const failedBecause = (reason: string, why: RegExp) => ({
  name: 'CheckpointError',
  reason,
  message: new RegExp(`^checkpointing of shop/web/main failed \\(${why.source}\\)$`),
});
