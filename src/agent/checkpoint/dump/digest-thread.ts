import { Worker } from 'node:worker_threads';
import { isRecord } from '../../../api/index.ts';
import type { ArchiveDigest, DigestRequest } from './digest-reader.ts';

/** A thread that reads large archives. Runs until disposal. */
export interface DigestThread extends AsyncDisposable {
  /** One call at a time. Rejects when the file cannot be read, when the thread has ended, and when `cancel` aborts. */
  digest(order: DigestRequest, cancel: AbortSignal): Promise<ArchiveDigest>;
}

/** The thread needs a buffer and little else. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 };

export function startDigestThread(): DigestThread {
  const worker = new Worker(resolveWorkerUrl(), { name: 'archive-digest', resourceLimits });
  const gone = new Promise<never>((_resolve, reject) => {
    worker.once('error', (error) => {
      reject(new Error('the thread that hashes archives failed', { cause: error }));
    });
    worker.once('exit', () => reject(new Error('the thread that hashes archives has ended')));
  });
  gone.catch(() => undefined); // no unhandled rejection while no call waits; a call that waits races with it
  return {
    async digest(order, cancel) {
      const answered = Promise.withResolvers<unknown>();
      const give = (): void => answered.reject(new Error('given up while the archive was hashed'));
      worker.once('message', answered.resolve);
      cancel.addEventListener('abort', give, { once: true });
      if (cancel.aborted) give();
      try {
        worker.postMessage(order);
        return parseReply(await Promise.race([answered.promise, gone]));
      } finally {
        cancel.removeEventListener('abort', give);
      }
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

function parseReply(message: unknown): ArchiveDigest {
  const { sha256, sizeBytes, heads, problem } = isRecord(message) ? message : {};
  if (typeof sha256 === 'string' && typeof sizeBytes === 'number' && heads instanceof Map) {
    return { sha256, sizeBytes, heads };
  }
  const why = typeof problem === 'string' ? problem : 'no reason was given';
  throw new Error(`the archive cannot be hashed: ${why}`);
}

/** The thread's code: a source file beside this module, or a bundle beside the bundle that contains this module. */
function resolveWorkerUrl(): URL {
  const name = import.meta.url.endsWith('.ts') ? './digest-worker.ts' : './archive-digest.js';
  return new URL(name, import.meta.url);
}
