import { stat } from 'node:fs/promises';
import type { Clock } from '../../base/index.ts';
import { withDeadline } from '../../base/index.ts';
import type { EvictionSignal } from '../node/index.ts';

/**
 * Which of the node's file systems are one: `shared` all, `images` those of images and containers beside the node's own, `split`
 * that of images alone beside the one of everything else.
 */
export type Layout = 'shared' | 'images' | 'split';

/** The parts of what a pod has on disk. */
export type DiskPart = 'layers' | 'logs' | 'volumes';

/** What can be removed before a pod is. */
export type Spare = 'containers' | 'images';

const allParts: readonly DiskPart[] = ['layers', 'logs', 'volumes'];

/** Which parts of pods lie on the file system of a signal of the disk. */
export function partsOn(signal: EvictionSignal, layout: Layout): readonly DiskPart[] {
  if (layout === 'shared') return allParts;
  const isOfImages = signal.startsWith('imagefs.');
  if (layout === 'split') return isOfImages ? [] : allParts;
  return isOfImages || signal.startsWith('containerfs.') ? ['layers'] : ['logs', 'volumes'];
}

/** What is removed there first, in this order; for memory and processes nothing. */
export function sparesOn(signal: EvictionSignal, layout: Layout): readonly Spare[] {
  const isOfImages = signal.startsWith('imagefs.');
  if (!isOfImages && !/^(?:node|container)fs\./.test(signal)) return [];
  if (layout === 'shared') return ['containers', 'images'];
  if (layout === 'split') return isOfImages ? ['images'] : ['containers'];
  return signal.startsWith('nodefs.') ? [] : ['containers', 'images'];
}

export interface FileSystemsOptions {
  /** The agent's root folder. */
  readonly rootDir: string;
  /** Folders of the runtime; undefined where it has not said. */
  runtimeDisks(): { readonly images: string | undefined; readonly containers: string | undefined };
  readonly clock: Clock;
  /** Default that of node:fs. */
  deviceOf?(path: string): Promise<number>;
}

const timeoutMs = 2000;

/** Finds out which file systems are one; a mount that hangs leaves what was known. */
export class FileSystems {
  readonly #options: FileSystemsOptions;
  /** By path: devices do not change under a folder that is in use. */
  readonly #devices = new Map<string, number>();
  /** Calls under way: one that hangs is not made again. */
  readonly #asked = new Map<string, Promise<void>>();

  constructor(options: FileSystemsOptions) {
    this.#options = options;
  }

  async layout(signal: AbortSignal): Promise<Layout> {
    const { rootDir, runtimeDisks } = this.#options;
    const { images, containers = images } = runtimeDisks();
    if (images === undefined || containers === undefined) return 'shared';
    const [own, ofImages, ofContainers] = await Promise.all(
      [rootDir, images, containers].map((path) => this.#deviceOf(path, signal)),
    );
    const isKnown = own !== undefined && ofImages !== undefined && ofContainers !== undefined;
    if (!isKnown || ofImages === own) return 'shared';
    return ofContainers === ofImages ? 'images' : 'split';
  }

  async #deviceOf(path: string, signal: AbortSignal): Promise<number | undefined> {
    if (!this.#devices.has(path))
      await withDeadline(
        { clock: this.#options.clock, timeoutMs, signal },
        `the file system of ${path}`,
        () => this.#ask(path),
      ).catch(() => undefined); // the measurement of the disk says so
    return this.#devices.get(path);
  }

  #ask(path: string): Promise<void> {
    const { deviceOf = ownDeviceOf } = this.#options;
    const asked =
      this.#asked.get(path) ??
      deviceOf(path)
        .then((device) => void this.#devices.set(path, device))
        .finally(() => this.#asked.delete(path));
    this.#asked.set(path, asked);
    return asked;
  }
}

const ownDeviceOf = async (path: string): Promise<number> => (await stat(path)).dev;
