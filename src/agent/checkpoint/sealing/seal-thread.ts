import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { isRecord } from '../../../api/index.ts';
import type { SealedFile, SealRequest } from './write-sealed-file.ts';

export type { SealedFile } from './write-sealed-file.ts';

/** The thread needs some chunks of a file and the library. */
const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 64 };

/**
 * Seals a file in a thread of its own; the sealed file is durable when this resolves. Rejects when that fails or `cancel`
 * aborts: then the sealed file is removed. The plain file stays in any case.
 */
export async function sealFile(order: SealRequest, cancel: AbortSignal): Promise<SealedFile> {
  cancel.throwIfAborted();
  const worker = new Worker(resolveWorkerUrl(), { name: 'archive-seal', resourceLimits, workerData: order });
  const answered = Promise.withResolvers<unknown>();
  const give = (): void => answered.reject(new Error('given up while the archive was sealed'));
  worker.once('message', answered.resolve);
  worker.once('error', (cause) => {
    answered.reject(new Error('the thread that seals archives failed', { cause }));
  });
  worker.once('exit', () => answered.reject(new Error('the thread that seals archives has ended')));
  cancel.addEventListener('abort', give, { once: true });
  try {
    return parseReply(await answered.promise);
  } catch (error) {
    await worker.terminate(); // so that it no longer writes the file
    await rm(order.to, { force: true });
    throw error;
  } finally {
    cancel.removeEventListener('abort', give);
    await worker.terminate();
  }
}

function parseReply(message: unknown): SealedFile {
  const { sha256, sizeBytes, problem } = isRecord(message) ? message : {};
  if (typeof sha256 === 'string' && typeof sizeBytes === 'number') return { sha256, sizeBytes };
  const why = typeof problem === 'string' ? problem : 'no reason was given';
  throw new Error(`the archive cannot be sealed: ${why}`);
}

/** The thread's code: a source file beside this module, or a bundle beside the bundle that contains this module. */
function resolveWorkerUrl(): URL {
  const name = import.meta.url.endsWith('.ts') ? './seal-worker.ts' : './archive-seal.js';
  return new URL(name, import.meta.url);
}
