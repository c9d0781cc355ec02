import { Worker } from 'node:worker_threads';
import type { Revision } from '../../types.ts';
import { StorageError } from '../../types.ts';
import type { FromWriter, ToWriter, WriterSettings } from '../messages.ts';
import type { StoreOrigin } from '../origin.ts';
import { transferOf } from '../writer/transfer.ts';
import { writerUrl } from './worker-url.ts';

/** What a store was found to be when its writer opened it. */
export interface Opened {
  readonly thread: WriterThread;
  readonly revision: Revision;
  readonly compacted: Revision;
  /** Whether it was made just now. */
  readonly fresh: boolean;
  readonly groupSuffix: string;
  readonly origin: StoreOrigin | undefined;
}

/** Little of what it makes lives longer than a group; three parts of 2 MiB cost it no more time than of 8. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

/** The writer thread as the event loop sees it. */
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

  /** Messages from now on. Call it in the same turn in which open() resolved. */
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
