import type { Dispatcher } from 'undici';
import { Pool } from 'undici';
import { cpuMs } from './process-cost.ts';

export interface Target {
  url: string;
  pid: number;
  ca: string;
  cert: string;
  key: string;
}

export interface Sent {
  method: Dispatcher.HttpMethod;
  path: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
}

export interface Measured {
  perSecond: number;
  /** Of the server, all threads, per request. */
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
}

/** Sends `count` requests over so many connections, one at a time on each; every answer must be of the 200s. */
export async function measure(
  target: Target,
  count: number,
  connections: number,
  request: (index: number) => Sent,
): Promise<Measured> {
  const { url, ca, cert, key } = target;
  await using pool = new ClosingPool(url, { connections, pipelining: 1, connect: { ca, cert, key } });
  await Promise.all(
    Array.from({ length: connections }, () => ask(pool, { method: 'GET', path: '/version' })),
  );
  const latencies = new Float64Array(count);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      const sentMs = performance.now();
      await ask(pool, request(index));
      latencies[index] = performance.now() - sentMs;
    }
  };
  const [cpuBefore, startedMs] = [await cpuMs(target.pid), performance.now()];
  await Promise.all(Array.from({ length: connections }, worker));
  const tookMs = performance.now() - startedMs;
  const usedMs = (await cpuMs(target.pid)) - cpuBefore;
  latencies.sort();
  return {
    perSecond: (count * 1000) / tookMs,
    cpuMs: usedMs / count,
    p50Ms: latencies[Math.floor(count * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(count * 0.99)] ?? 0,
  };
}

class ClosingPool extends Pool {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function ask(pool: Pool, { method, path, body, headers = {} }: Sent): Promise<void> {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await pool.request({ method, path, headers: { ...type, ...headers }, body: body ?? null });
  const text = await answer.body.arrayBuffer();
  if (answer.statusCode >= 300) {
    const told = Buffer.from(text).toString('utf8').slice(0, 500);
    throw new Error(`${method} ${path}: ${answer.statusCode} ${told}`);
  }
}
