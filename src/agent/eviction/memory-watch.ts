import { watch } from 'node:fs';
import type { Eviction, Memory, Thresholds } from '../node/index.ts';
import { amountOf } from '../node/index.ts';

/*
 * Between two looks at the whole node memory may run out. Node.js can wait for a change of a file by inotify, which version 2 of
 * cgroups has for memory.events.local (Linux 5.2): the kernel changes it when pods have reached their limit together.
 * (memory.events counts what happens in groups below, too, so that one container at its own limit would be heard without end.)
 * It cannot wait for thresholds of version 1 (cgroup.event_control wants an eventfd) nor for PSI (a trigger is waited for with POLLPRI). So, in
 * both versions, the memory is read each second while what is available is near a threshold; that costs a fraction of a
 * millisecond.
 */

const quickMs = 1000;
/** Of the capacity: what a few busy processes take in some seconds. */
const nearShare = 0.1;

/** How long the memory may be left unread, with so much available; undefined: until the next look at the whole node. */
export function quickLookMs(memory: Memory | undefined, eviction: Eviction): number | undefined {
  if (memory === undefined) return undefined;
  const threshold = maxThreshold(memory, eviction);
  const isNear = memory.availableBytes < 2 * threshold + nearShare * memory.capacityBytes;
  return threshold > 0 && isNear ? quickMs : undefined;
}

/** Whether less is available than the threshold asks for. */
export function isMemoryShort(memory: Memory | undefined, thresholds: Thresholds): boolean {
  return (
    memory !== undefined &&
    memory.availableBytes < amountOf(thresholds['memory.available'], memory.capacityBytes)
  );
}

function maxThreshold({ capacityBytes }: Memory, { hard, soft }: Eviction): number {
  return Math.max(
    amountOf(hard['memory.available'], capacityBytes),
    amountOf(soft['memory.available'], capacityBytes),
  );
}

export interface MemoryEvents extends Disposable {
  /** Follows another file, or none. */
  follow(path: string | undefined): void;
}

/** Calls `onEvent` when the kernel changes the file; one that is missing, or cannot be watched, is tried again at `follow`. */
export function followMemoryEvents(onEvent: () => void): MemoryEvents {
  let followed: { readonly path: string; readonly watcher: Disposable } | undefined;
  const end = () => {
    followed?.watcher[Symbol.dispose]();
    followed = undefined;
  };
  return {
    follow(path) {
      if (path === followed?.path) return;
      end();
      const watcher = path === undefined ? undefined : watchFile(path, onEvent, end);
      if (path !== undefined && watcher !== undefined) followed = { path, watcher };
    },
    [Symbol.dispose]: end,
  };
}

function watchFile(path: string, onEvent: () => void, onEnd: () => void): Disposable | undefined {
  try {
    const watcher = watch(path, { persistent: false }, (kind) => (kind === 'rename' ? onEnd() : onEvent()));
    watcher.on('error', onEnd);
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return undefined; // version 1 has no such file, nor has an old kernel
  }
}
