import type { Clock, Logger } from '../../base/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import type { Connection } from '../runtime/index.ts';
import type { ImageAccess } from './access/image-access.ts';
import { PullBackoffs } from './backoffs.ts';
import type { ContainerImageParts } from './container-image.ts';
import { ContainerImage } from './container-image.ts';
import type { CredentialProviders } from './credentials/providers/providers.ts';
import type { PullSecrets } from './credentials/sources.ts';
import { CredentialSources } from './credentials/sources.ts';
import { ImageCalls } from './image-calls.ts';
import { ImageEvents } from './image-events.ts';
import type { ImageMetrics } from './image-metrics.ts';
import type { PullSettings } from './pulls.ts';
import { Pulls } from './pulls.ts';
import type { ImageState, Images, ImageWish } from './types.ts';

export interface ImageRoomOptions {
  /** To the image service, which may be another one than that of containers. The caller closes it. */
  readonly connection: Connection;
  /** How long the image service may take for anything but a pull. */
  readonly timeoutMs: number;
  readonly pulls: PullSettings;
  readonly secrets: PullSecrets;
  /** The node's own credentials, a file in the format of `config.json`; it may be missing. Default: the node has none. */
  readonly nodeCredentialsFile?: string | undefined;
  /** Programs of the node that are asked for credentials besides. */
  readonly providers?: CredentialProviders | undefined;
  /** Who may use what others have pulled. Default: every pod uses every image of the node. The caller disposes of it. */
  readonly access?: ImageAccess | undefined;
  readonly events: EventRecorder;
  readonly metrics?: ImageMetrics | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The images of the pods of this node. Disposing of it ends every pull. */
export class ImageRoom implements Images, Disposable {
  readonly #parts: ContainerImageParts;
  readonly #listeners = new Set<(podUid: string) => void>();
  /** By pod and container. */
  readonly #images = new Map<string, Map<string, ContainerImage>>();

  constructor(options: ImageRoomOptions) {
    const { clock, log, secrets, nodeCredentialsFile: nodeFile, providers } = options;
    const calls = new ImageCalls(options);
    this.#parts = {
      calls,
      pulls: new Pulls(calls, options.pulls, clock, (result) => options.metrics?.ended(result)),
      backoffs: new PullBackoffs(clock),
      sources: new CredentialSources({ secrets, nodeFile, providers, clock, log }),
      access: options.access,
      events: new ImageEvents(options.events),
      metrics: options.metrics,
      clock,
      log,
    };
  }

  want(wish: ImageWish): ImageState {
    const podUid = wish.pod.metadata?.uid ?? '';
    const ofPod = this.#images.get(podUid) ?? new Map<string, ContainerImage>();
    const known = ofPod.get(wish.container);
    if (known?.isFor(wish)) {
      known.renew(wish);
      return known.state;
    }
    known?.end();
    const image = new ContainerImage(wish, this.#parts, () => this.#announce(podUid));
    this.#images.set(podUid, ofPod.set(wish.container, image));
    image.start();
    return image.state;
  }

  forget(podUid: string): void {
    for (const image of this.#images.get(podUid)?.values() ?? []) image.end();
    this.#images.delete(podUid);
    this.#parts.backoffs.forget(podUid);
  }

  onChange(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Ids and names, as the runtime lists them, of the images that pods wait for or start with. */
  wantedImages(): ReadonlySet<string> {
    const images = [...this.#images.values()].flatMap((ofPod) => [...ofPod.values()]);
    return new Set(images.flatMap(({ held }) => held));
  }

  [Symbol.dispose](): void {
    for (const podUid of [...this.#images.keys()]) this.forget(podUid);
    this.#listeners.clear();
  }

  #announce(podUid: string): void {
    for (const listener of [...this.#listeners]) listener(podUid);
  }
}
