import { Worker } from 'node:worker_threads';
import type { Revision } from '../../types.ts';
import { StorageError } from '../../types.ts';
import type { FromWriter, ToWriter, WriterSettings } from '../messages.ts';
import type { StoreOrigin } from '../origin.ts';
import { transferOf } from '../writer/transfer.ts';

/** The facts about a store that its writer found when it opened it. */
export interface Opened {
  readonly thread: WriterThread;
  readonly revision: Revision;
  readonly compacted: Revision;
  /** Whether it was created just now. */
  readonly fresh: boolean;
  readonly groupSuffix: string;
  readonly origin: StoreOrigin | undefined;
}

/** Few of its objects live longer than a group; with three semispaces of 2 MiB it is as fast as with 8 MiB. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

/** The event loop's side of the writer thread. */
export class WriterThread {
  readonly #worker: Worker;
  /** Resolves when the thread is gone, with the error that ended it if there was one. */
  readonly gone: Promise<Error | undefined>;

  private constructor(settings: WriterSettings) {
    this.#worker = new Worker(writerUrl(), { workerData: settings, name: 'sqlite-writer', resourceLimits });
    this.gone = new Promise((resolve) => {
      this.#worker.once('error', (error) =>
        resolve(error instanceof Error ? error : new Error(String(error))),
      );
      this.#worker.once('exit', () => resolve(undefined));
    });
  }

  /** Starts the thread and opens the store in it. Rejects with a StorageError, the thread being gone then. */
  static async open(settings: WriterSettings): Promise<Opened> {
    const thread = new WriterThread(settings);
    const first = Promise.withResolvers<FromWriter>();
    thread.#worker.once('message', first.resolve);
    const message = await Promise.race([first.promise, thread.gone]);
    if (message !== undefined && 'type' in message && message.type === 'opened') {
      const { type: _type, ...facts } = message;
      return { thread, ...facts };
    }
    await thread.terminate();
    if (message !== undefined && 'type' in message && message.type === 'openFailed') {
      throw new StorageError(message.code, message.message);
    }
    const cause = message instanceof Error ? message : undefined;
    const text = `cannot open the store ${settings.file}: its writer thread ended (${cause?.message ?? 'no reason'})`;
    throw new StorageError('unusable', text, { cause });
  }

  /** Calls `receive` for messages from now on. To be called in the same event loop turn in which open() resolved. */
  onMessage(receive: (message: FromWriter) => void): void {
    this.#worker.on('message', receive);
  }

  post(message: ToWriter): void {
    this.#worker.postMessage(message, transferOf(message));
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The URL of the writer thread's code: beside this source, or beside the bundle that contains it. */
function writerUrl(): URL {
  const name = import.meta.url.endsWith('.ts') ? '../writer/writer.ts' : './sqlite-writer.js';
  return new URL(name, import.meta.url);
}
