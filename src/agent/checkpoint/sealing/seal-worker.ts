/**
 * A thread that seals one archive and ends. The cipher is JavaScript, and a large archive keeps a processor busy for
 * seconds, in which the agent must still answer.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { SealRequest } from './write-sealed-file.ts';
import { writeSealedFile } from './write-sealed-file.ts';

const order: SealRequest = workerData;
try {
  parentPort?.postMessage(await writeSealedFile(order));
} catch (error) {
  parentPort?.postMessage({ problem: error instanceof Error ? error.message : String(error) });
}
