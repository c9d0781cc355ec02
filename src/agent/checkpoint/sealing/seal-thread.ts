import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { isRecord } from '../../../api/index.ts';
import type { SealedFile, SealOrder } from './age-stream.ts';

export type { SealedFile } from './age-stream.ts';

/** It holds some pieces of a file and the library. */
const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 64 };

/**
 * Seals a file in a thread of its own: durable when this resolves. Rejects when that cannot be done and when `cancel`
 * aborts; nothing is left of the sealed file then. The plain one stays in any case.
 */
export async function sealFile(order: SealOrder, cancel: AbortSignal): Promise<SealedFile> {
  cancel.throwIfAborted();
  const worker = new Worker(workerUrl(), { name: 'archive-seal', resourceLimits, workerData: order });
  const answered = Promise.withResolvers<unknown>();
  const give = (): void => answered.reject(new Error('given up while the archive was sealed'));
  worker.once('message', answered.resolve);
  worker.once('error', (cause) => {
    answered.reject(new Error('the thread that seals archives failed', { cause }));
  });
  worker.once('exit', () => answered.reject(new Error('the thread that seals archives has ended')));
  cancel.addEventListener('abort', give, { once: true });
  try {
    return answerIn(await answered.promise);
  } catch (error) {
    await worker.terminate(); // it writes no more
    await rm(order.to, { force: true });
    throw error;
  } finally {
    cancel.removeEventListener('abort', give);
    await worker.terminate();
  }
}

function answerIn(message: unknown): SealedFile {
  const { sha256, sizeBytes, problem } = isRecord(message) ? message : {};
  if (typeof sha256 === 'string' && typeof sizeBytes === 'number') return { sha256, sizeBytes };
  const why = typeof problem === 'string' ? problem : 'no reason was told';
  throw new Error(`the archive cannot be sealed: ${why}`);
}

/** The thread's code: beside this module as a source file, or beside the bundle that this module became a part of. */
function workerUrl(): URL {
  const name = import.meta.url.endsWith('.ts') ? './seal-worker.ts' : './archive-seal.js';
  return new URL(name, import.meta.url);
}
