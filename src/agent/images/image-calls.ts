import type { Pod } from '../../api/index.ts';
import type { CallOptions, Connection } from '../runtime/index.ts';
import { ImageService, RuntimeError } from '../runtime/index.ts';
import type { Credential } from './credentials/types.ts';
import type { ContainerUserOfImage } from './types.ts';

/** An image that is on the node. */
export interface LocalImage {
  readonly id: string;
  /** Tags and digests by which it can be named. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** The runtime needs it for itself: it is never removed. */
  readonly isPinned: boolean;
  readonly user: ContainerUserOfImage;
}

export interface ImageCallsOptions {
  readonly connection: Connection;
  /** Of every call but a pull, which may take however long it takes. */
  readonly timeoutMs: number;
}

type AnswerImage = NonNullable<Awaited<ReturnType<typeof askStatus>>['image']>;

/** The image service of the runtime; every call rejects with a RuntimeError. */
export class ImageCalls {
  readonly #connection: Connection;
  readonly #timeoutMs: number;

  constructor({ connection, timeoutMs }: ImageCallsOptions) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** Undefined when the image is not on the node. `image` is a name or an id. */
  async status(image: string, cancel: AbortSignal): Promise<LocalImage | undefined> {
    try {
      const answer = await askStatus(this.#connection, image, this.#within(cancel));
      return answer.image === undefined || answer.image.id === '' ? undefined : toLocal(answer.image);
    } catch (error) {
      if (error instanceof RuntimeError && error.reason === 'notFound') return undefined;
      throw error;
    }
  }

  /** Resolves when the image is on the node. It has no deadline: runtimes give up by themselves when nothing moves. */
  async pull(
    image: string,
    pod: Pod,
    credential: Credential | undefined,
    cancel: AbortSignal,
  ): Promise<void> {
    const auth = credential && { username: credential.username, password: credential.password };
    const { name = '', namespace = '', uid = '', labels = {}, annotations = {} } = pod.metadata ?? {};
    const request = {
      image: { image, annotations },
      sandboxConfig: { metadata: { name, namespace, uid }, labels, annotations },
      ...(auth === undefined ? {} : { auth }),
    };
    await this.#connection.call(ImageService.method.pullImage, request, { deadlineMs: null, cancel });
  }

  async list(cancel: AbortSignal): Promise<LocalImage[]> {
    const { images } = await this.#connection.call(ImageService.method.listImages, {}, this.#within(cancel));
    return images.map(toLocal);
  }

  /** By id: containerd removes an image with all its names, pinned or not, when it is given one of them. */
  async remove(id: string, cancel: AbortSignal): Promise<void> {
    const request = { image: { image: id } };
    await this.#connection.call(ImageService.method.removeImage, request, this.#within(cancel));
  }

  /** Where the images lie; undefined when the service does not say. */
  async folder(cancel: AbortSignal): Promise<string | undefined> {
    const answer = await this.#connection.call(ImageService.method.imageFsInfo, {}, this.#within(cancel));
    return answer.imageFilesystems[0]?.fsId?.mountpoint || undefined;
  }

  #within(cancel: AbortSignal): CallOptions {
    return { deadlineMs: this.#timeoutMs, cancel };
  }
}

function askStatus(connection: Connection, image: string, options: CallOptions) {
  return connection.call(ImageService.method.imageStatus, { image: { image } }, options);
}

function toLocal(image: AnswerImage): LocalImage {
  const { id, repoTags, repoDigests, size, pinned, uid, username } = image;
  const user = uid === undefined ? (username === '' ? {} : { username }) : { uid: Number(uid.value) };
  return { id, names: [...repoTags, ...repoDigests], sizeBytes: Number(size), isPinned: pinned, user };
}
