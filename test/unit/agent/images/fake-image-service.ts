import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { CallOptions, Connection } from '../../../../src/agent/runtime/index.ts';
import { ImageService, RuntimeError } from '../../../../src/agent/runtime/index.ts';

const { imageStatus, listImages, pullImage, removeImage, imageFsInfo } = ImageService.method;

type Answer = (bytes: Uint8Array, options: CallOptions) => Promise<Uint8Array>;

export interface FakeImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly size: number;
  readonly pinned?: boolean;
  readonly uid?: number;
  readonly username?: string;
}

/** What was asked of the registry. */
export interface FakePull {
  readonly image: string;
  readonly auth: string | undefined;
  readonly namespace: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Ends it; without an error the image is there then. */
  end(error?: Error): void;
}

/** An image service in memory. Pulls end when the test says so, or at once while `answerPull` is set. */
export class FakeImageService implements Connection {
  readonly endpoint = 'unix:///fake';
  readonly images = new Map<string, FakeImage>();
  readonly pulls: FakePull[] = [];
  readonly calls: string[] = [];
  readonly removed: string[] = [];
  folder = '/images';
  /** Every call fails so. */
  failure: Error | undefined;
  /** No call is ever answered. */
  hangs = false;
  answerPull: ((pull: FakePull) => void) | undefined;
  readonly #answers = new Map<string, Answer>();

  constructor() {
    this.#on(imageStatus, async ({ image }) => {
      const found = this.#find(image?.image ?? '');
      return found === undefined ? {} : { image: toCri(found) };
    });
    this.#on(listImages, async () => ({ images: [...this.images.values()].map(toCri) }));
    this.#on(imageFsInfo, async () => ({ imageFilesystems: [{ fsId: { mountpoint: this.folder } }] }));
    this.#on(removeImage, async ({ image }) => {
      const id = image?.image ?? '';
      this.removed.push(id);
      this.images.delete(id);
      return {};
    });
    this.#on(pullImage, async ({ image, auth, sandboxConfig }, { cancel }) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const name = image?.image ?? '';
      const pull: FakePull = {
        image: name,
        auth: auth && `${auth.username}:${auth.password}`,
        namespace: sandboxConfig?.metadata?.namespace,
        signal: cancel,
        end: (error) => (error === undefined ? resolve() : reject(error)),
      };
      cancel?.addEventListener('abort', () => reject(new RuntimeError('cancelled', 'cancelled')));
      this.pulls.push(pull);
      this.answerPull?.(pull);
      await promise;
      if (this.#find(name) === undefined) this.add(name);
      return { imageRef: idOf(name) };
    });
  }

  add(name: string, more: Partial<FakeImage> = {}): FakeImage {
    const image = { id: idOf(name), names: [name], size: 1000, ...more };
    this.images.set(image.id, image);
    return image;
  }

  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): Promise<MessageShape<O>> {
    this.calls.push(method.name);
    await Promise.resolve();
    if (this.hangs) await untilCancelled(options.cancel);
    if (this.failure !== undefined) throw this.failure;
    const answer = this.#answers.get(method.name);
    if (answer === undefined) throw new RuntimeError('unimplemented', `${method.name} is not implemented`);
    return fromBinary(
      method.output,
      await answer(toBinary(method.input, create(method.input, request)), options),
    );
  }

  stream(method: DescMethod): AsyncIterable<never> {
    throw new RuntimeError('unimplemented', `${method.name} is not implemented`);
  }

  [Symbol.dispose](): void {
    this.failure = new RuntimeError('unavailable', 'closed');
  }

  #find(name: string): FakeImage | undefined {
    return this.images.get(name) ?? [...this.images.values()].find(({ names }) => names.includes(name));
  }

  #on<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    answer: (request: MessageShape<I>, options: CallOptions) => Promise<MessageInitShape<O>>,
  ): void {
    this.#answers.set(method.name, async (bytes, options) => {
      const answered = await answer(fromBinary(method.input, bytes), options);
      return toBinary(method.output, create(method.output, answered));
    });
  }
}

export const idOf = (name: string): string => `sha256:id-of-${name}`;

function toCri({ id, names, size, pinned = false, uid, username = '' }: FakeImage) {
  const user = uid === undefined ? {} : { uid: { value: BigInt(uid) } };
  return { id, repoTags: [...names], size: BigInt(size), pinned, username, ...user };
}

async function untilCancelled(cancel: AbortSignal | undefined): Promise<never> {
  await new Promise((resolve) => cancel?.addEventListener('abort', resolve));
  throw new RuntimeError('cancelled', 'cancelled');
}
