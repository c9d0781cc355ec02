import { Worker } from 'node:worker_threads';
import { isRecord } from '../../../api/index.ts';
import type { DigestAnswer, DigestOrder } from './digest-reader.ts';

/** The thread that reads large archives. Starts when it is made and lives until it is disposed of. */
export interface DigestThread extends AsyncDisposable {
  /** One at a time. Rejects when the file cannot be read, when the thread is gone, and when `cancel` aborts. */
  digest(order: DigestOrder, cancel: AbortSignal): Promise<DigestAnswer>;
}

/** It holds a buffer and little else. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 };

export function startDigestThread(): DigestThread {
  const worker = new Worker(workerUrl(), { name: 'archive-digest', resourceLimits });
  const gone = new Promise<never>((_resolve, reject) => {
    worker.once('error', (error) => {
      reject(new Error('the thread that hashes archives failed', { cause: error }));
    });
    worker.once('exit', () => reject(new Error('the thread that hashes archives has ended')));
  });
  gone.catch(() => undefined); // whoever waits for a digest is told
  return {
    async digest(order, cancel) {
      const answered = Promise.withResolvers<unknown>();
      const give = (): void => answered.reject(new Error('given up while the archive was hashed'));
      worker.once('message', answered.resolve);
      cancel.addEventListener('abort', give, { once: true });
      if (cancel.aborted) give();
      try {
        worker.postMessage(order);
        return answerIn(await Promise.race([answered.promise, gone]));
      } finally {
        cancel.removeEventListener('abort', give);
      }
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

function answerIn(message: unknown): DigestAnswer {
  const { sha256, sizeBytes, heads, problem } = isRecord(message) ? message : {};
  if (typeof sha256 === 'string' && typeof sizeBytes === 'number' && heads instanceof Map) {
    return { sha256, sizeBytes, heads };
  }
  const why = typeof problem === 'string' ? problem : 'no reason was told';
  throw new Error(`the archive cannot be hashed: ${why}`);
}

/** The thread's code: beside this module as a source file, or beside the bundle that this module became a part of. */
function workerUrl(): URL {
  const name = import.meta.url.endsWith('.ts') ? './digest-worker.ts' : './archive-digest.js';
  return new URL(name, import.meta.url);
}
