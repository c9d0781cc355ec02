import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Connection } from './connection.ts';
import type { Image } from './gen/cri_pb.js';
import { ImageService } from './gen/cri_pb.js';
import type { ImageStore, RuntimeImage, RuntimeStatus } from './types.ts';

export interface ImageOptions {
  /** To the image service, which may be another one than that of containers. */
  connection: Connection;
  log: Logger;
  clock: Clock;
  /** Between two queries. */
  intervalMs: number;
  timeoutMs: number;
  /** Calls `listener` when the runtime's state changes, until disposed of. */
  onStatusChange(listener: (status: RuntimeStatus) => void): Disposable;
}

/** Keeps the known images up to date, in the background, until it is disposed of. */
export interface ImageWatch extends AsyncDisposable {
  current(): ImageStore;
  onChange(listener: () => void): Disposable;
}

/**
 * Queries the images periodically, and as soon as the runtime is ready. No caller ever waits for the runtime: until it
 * answers, the last known images are returned.
 */
export function watchImages(options: ImageOptions): ImageWatch {
  const { connection, log, clock, intervalMs, timeoutMs } = options;
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  let store: ImageStore = nothingKnown;
  let logged = '';
  let sleep = new AbortController();
  let isReady = false;

  async function query(): Promise<void> {
    const call = { deadlineMs: timeoutMs, cancel: stop.signal };
    const [disks, listed] = await Promise.allSettled([
      connection.call(ImageService.method.imageFsInfo, {}, call),
      connection.call(ImageService.method.listImages, {}, call),
    ]);
    if (stop.signal.aborted) return;
    const next = { ...store };
    if (disks.status === 'fulfilled') {
      const { imageFilesystems, containerFilesystems } = disks.value;
      next.imageDir = imageFilesystems[0]?.fsId?.mountpoint || undefined;
      next.containerDir = containerFilesystems[0]?.fsId?.mountpoint || undefined;
    }
    if (listed.status === 'fulfilled')
      next.images = listed.value.images.map(toImage).sort(compareLargestFirst);
    const failed = [disks, listed].find((result) => result.status === 'rejected');
    reportFailure(failed === undefined ? '' : describeError(failed.reason));
    if (JSON.stringify(next) === JSON.stringify(store)) return;
    store = next;
    for (const listener of [...listeners]) listener();
  }

  function reportFailure(wrong: string): void {
    if (wrong !== '' && logged === '')
      log.warn(`cannot look at the images of the node, what was last known stands: ${wrong}`);
    logged = wrong;
  }

  async function keepFresh(): Promise<void> {
    while (!stop.signal.aborted) {
      sleep = new AbortController();
      await clock.sleep(intervalMs, AbortSignal.any([stop.signal, sleep.signal]));
      if (!stop.signal.aborted && isReady) await query();
    }
  }
  const follow = options.onStatusChange(({ ready }) => {
    if (ready && !isReady) sleep.abort();
    isReady = ready;
  });
  const running = keepFresh();

  return {
    current: () => store,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async [Symbol.asyncDispose]() {
      follow[Symbol.dispose]();
      stop.abort();
      listeners.clear();
      await running;
    },
  };
}

const nothingKnown: ImageStore = { images: undefined, imageDir: undefined, containerDir: undefined };

function toImage({ repoDigests, repoTags, size }: Image): RuntimeImage {
  return { names: [...repoDigests, ...repoTags], sizeBytes: Number(size) };
}

function compareLargestFirst(a: RuntimeImage, b: RuntimeImage): number {
  return b.sizeBytes - a.sizeBytes || ((a.names[0] ?? '') < (b.names[0] ?? '') ? -1 : 1);
}
