import { setTimeout as delay } from 'node:timers/promises';
import type { Reply, Sent, Target } from './connection.ts';
import { Connection, requestBytes } from './connection.ts';
import { cpuMs } from './process-cost.ts';

export interface Measured {
  perSecond: number;
  /** Of the server, all threads, per request. */
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
  /** How many got 429, to try again later. */
  refused: number;
  /** Of each process that was to be watched, per request. */
  othersCpuMs: readonly number[];
}

export interface Load {
  /** How many requests, all together. */
  count: number;
  connections: number;
  /** On each connection a request begins so long after the one before, or when that is answered: whatever is later. */
  everyMs?: number;
  /** Who asks on each connection; default the target's for all. */
  targets?: readonly Target[];
  /** Further processes whose CPU time is reported. */
  others?: readonly number[];
  /** The request with this number, sent over this connection. */
  request(index: number, connection: number): Uint8Array;
  /** Looks at the answer to the request with this number. */
  answered?(reply: Reply, index: number, connection: number): void;
}

/** The load of one request after the other, each made from what it asks. */
export function loadOf(count: number, connections: number, request: (index: number) => Sent): Load {
  return { count, connections, request: (index) => requestBytes(request(index)) };
}

/** Sends requests, one at a time on each connection; every answer must be of the 200s, or 429 where there is a pace. */
export async function measure(target: Target, load: Load): Promise<Measured> {
  const { count } = load;
  using lines = await openAll(target, load.connections, load.targets);
  const latencies = new Float64Array(count);
  let next = 0;
  let refused = 0;
  const { everyMs = 0 } = load;
  const work = async (line: Connection, connection: number) => {
    let dueMs = performance.now() + (everyMs * connection) / load.connections;
    for (let index = next++; index < count; index = next++) {
      const earlyMs = dueMs - performance.now();
      if (everyMs > 0 && earlyMs > 0) await delay(earlyMs);
      dueMs = Math.max(dueMs + everyMs, performance.now());
      const bytes = load.request(index, connection);
      const sentMs = performance.now();
      const reply = await line.ask(bytes);
      latencies[index] = performance.now() - sentMs;
      if (everyMs > 0 && reply.status === 429) {
        refused++;
        continue;
      }
      expectSuccess(reply);
      load.answered?.(reply, index, connection);
    }
  };
  const pids = [target.pid, ...(load.others ?? [])];
  const [cpuBefore, startedMs] = [await Promise.all(pids.map(cpuMs)), performance.now()];
  await Promise.all(lines.all.map(work));
  const tookMs = performance.now() - startedMs;
  const cpuAfter = await Promise.all(pids.map(cpuMs));
  const [usedMs = 0, ...othersMs] = cpuAfter.map((after, index) => after - (cpuBefore[index] ?? 0));
  latencies.sort();
  return {
    perSecond: ((count - refused) * 1000) / tookMs,
    cpuMs: usedMs / count,
    p50Ms: latencies[Math.floor(count * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(count * 0.99)] ?? 0,
    refused,
    othersCpuMs: othersMs.map((each) => each / count),
  };
}

/** How many handshakes run at once, so that the last does not take longer than the server allows. */
const handshakes = 32;

/** Opens connections on each of which one request was answered already. */
export async function openAll(
  target: Target,
  count: number,
  targets: readonly Target[] = [],
): Promise<Disposable & { all: readonly Connection[] }> {
  const all: Connection[] = [];
  const hello = requestBytes({ method: 'GET', path: '/version' });
  for (let opened = 0; opened < count; opened += handshakes) {
    const wanted = Math.min(handshakes, count - opened);
    const some = await Promise.all(
      Array.from({ length: wanted }, (_, index) => Connection.open(targets[opened + index] ?? target)),
    );
    all.push(...some);
    for (const line of some) expectSuccess(await line.ask(hello));
  }
  return {
    all,
    [Symbol.dispose]() {
      for (const line of all) line[Symbol.dispose]();
    },
  };
}

export function expectSuccess({ status, bytes, bodyAt }: Reply): void {
  if (status >= 200 && status < 300) return;
  throw new Error(`the server answered ${status}: ${bytes.subarray(bodyAt, bodyAt + 500).toString('utf8')}`);
}
