/**
 * A thread that seals one archive and ends: the cipher is JavaScript and keeps a processor busy for seconds with a large
 * archive, in which the agent must go on to answer.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { SealOrder } from './age-stream.ts';
import { seal } from './age-stream.ts';

const order: SealOrder = workerData;
try {
  parentPort?.postMessage(await seal(order));
} catch (error) {
  parentPort?.postMessage({ problem: error instanceof Error ? error.message : String(error) });
}
