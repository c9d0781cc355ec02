import { writeFile } from 'node:fs/promises';
import type { FoundContainer, Runtime, Thawed } from '../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { tarArchive } from './archives.ts';

type Used = Pick<Runtime, 'find' | 'checkpoint' | 'thaw'>;

/** The runtime as the checkpointer sees it: pod `shop/web` with a running container `main`. */
export interface StandInRuntime extends Used {
  found: FoundContainer | 'noPod' | 'noContainer';
  /** What happens to a checkpoint; default: a small tar archive is written. */
  write: (file: string, cancel: AbortSignal, id: string) => Promise<void>;
  thawing: (id: string, cancel?: AbortSignal) => Promise<Thawed>;
  /** Ids of containers, in order. */
  readonly thawed: string[];
  readonly files: string[];
}

export function standInRuntime(): StandInRuntime {
  const runtime: StandInRuntime = {
    found: { id: 'c1', sandboxId: 's1', podUid: 'u1', state: 'running' },
    write: (file) => writeFile(file, tarArchive('config.dump', '{}')),
    thawing: async () => 'running',
    thawed: [],
    files: [],
    find: async (namespace, pod, container) => {
      if (namespace !== 'shop' || pod !== 'web') return 'noPod';
      return container === 'main' ? runtime.found : 'noContainer';
    },
    checkpoint: async (id, file, cancel) => {
      runtime.files.push(file);
      await runtime.write(file, cancel, id);
    },
    thaw: async (id, cancel) => {
      runtime.thawed.push(id);
      return await runtime.thawing(id, cancel);
    },
  };
  return runtime;
}

/** A dump that goes on until it is cancelled. */
export function endless(begun: () => void = () => undefined): StandInRuntime['write'] {
  return (_file, cancel) => {
    begun();
    return new Promise((_resolve, reject) => {
      const end = (): void => reject(new RuntimeError('cancelled', 'Cancelled on client'));
      if (cancel.aborted) end();
      cancel.addEventListener('abort', end, { once: true });
    });
  };
}
