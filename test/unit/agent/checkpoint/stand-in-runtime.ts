import { writeFile } from 'node:fs/promises';
import type { CheckpointRuntime } from '../../../../src/agent/checkpoint/index.ts';
import type {
  CheckpointHints,
  DumpFolder,
  FoundContainer,
  FoundMember,
  Released,
  Thawed,
} from '../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { tarArchive } from './archives.ts';

/** The runtime as the checkpointer sees it: pod `shop/web` with a running container `main`. */
export interface StandInRuntime extends CheckpointRuntime {
  found: FoundContainer | 'noPod' | 'noContainer';
  /** What happens to a checkpoint; default: a small tar archive is written. */
  write: (file: string, cancel: AbortSignal, id: string) => Promise<void>;
  thawing: (id: string, cancel?: AbortSignal) => Promise<Thawed>;
  /** Ids of containers, in order. */
  readonly thawed: string[];
  readonly files: string[];
  readonly hints: (CheckpointHints | undefined)[];
  memory: () => Promise<number>;
  folders: readonly DumpFolder[];
  /** What runs in the pod, in the order of its making; default: `main` alone. */
  members: readonly FoundMember[] | 'noPod';
  /** What happens to containers that are held, in order: `freeze c1`, `dump c1`, `release c1`. */
  readonly held: string[];
  /** Rejects when a container cannot be frozen. */
  freezing: (id: string) => Promise<void>;
  /** How a container is let go. */
  releasing: (id: string) => Promise<Released>;
  /** Tells who listens that a container was found frozen. */
  resumed(id: string): void;
}

export function standInRuntime(): StandInRuntime {
  const listeners = new Set<(id: string) => void>();
  const runtime: StandInRuntime = {
    found: { id: 'c1', sandboxId: 's1', podUid: 'u1', state: 'running' },
    write: (file) => writeFile(file, tarArchive('config.dump', '{}')),
    thawing: async () => 'running',
    thawed: [],
    files: [],
    hints: [],
    memory: async () => 0,
    folders: [],
    members: [{ name: 'main', id: 'c1', sandboxId: 's1', podUid: 'u1', state: 'running' }],
    held: [],
    freezing: async () => undefined,
    releasing: async () => ({ thawed: 'running', pausedMs: 12.4 }),
    resumed: (id) => {
      for (const listener of listeners) listener(id);
    },
    onResumed(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    inspect: async () => ({ pid: 7, image: 'shop/web:1', imageRef: 'sha256:1' }),
    memoryBytes: () => runtime.memory(),
    dumpFolders: async () => runtime.folders,
    status: () => ({
      ready: true,
      networkReady: true,
      reason: '',
      message: '',
      name: 'containerd',
      version: '2.1.9',
      endpoint: '',
    }),
    find: async (namespace, pod, container) => {
      if (namespace !== 'shop' || pod !== 'web') return 'noPod';
      if (container === 'main') return runtime.found;
      const members = runtime.members === 'noPod' ? [] : runtime.members;
      return members.find(({ name }) => name === container) ?? 'noContainer';
    },
    findPod: async (namespace, pod) => {
      return namespace === 'shop' && pod === 'web' ? runtime.members : 'noPod';
    },
    hold: () => {
      const frozen: string[] = [];
      return {
        async freeze(id) {
          runtime.held.push(`freeze ${id}`);
          frozen.push(id);
          await runtime.freezing(id);
        },
        async checkpoint(id, file, cancel) {
          runtime.held.push(`dump ${id}`);
          runtime.files.push(file);
          await runtime.write(file, cancel, id);
        },
        async release() {
          const released = new Map<string, Released>();
          for (const id of frozen.toReversed()) {
            runtime.held.push(`release ${id}`);
            released.set(id, await runtime.releasing(id));
          }
          return released;
        },
      };
    },
    checkpoint: async (id, file, cancel, hints) => {
      runtime.files.push(file);
      runtime.hints.push(hints);
      await runtime.write(file, cancel, id);
      return { pausedMs: 12.4 };
    },
    killDump: async () => 0,
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
