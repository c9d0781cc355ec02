/**
 * Durable writes: `node bench/commits.ts [quick]`. How many a second the SQLite store commits with so many waiting at a
 * time, beside how often the same disk can sync a small append in the same run: group commit is what makes the one
 * larger than the other. CPU is this process's, of all threads.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../src/apiserver/storage/index.ts';
import { openStore } from '../src/apiserver/storage/index.ts';
import { printRow } from './report.ts';

const quick = process.argv.includes('quick');
const valueBytes = 400;

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-bench-'));
  try {
    const before = await syncRate(join(folder, 'probe'));
    printRow(['durable writes', 'per second', 'CPU ms', 'per fsync', 'p50 ms', 'p99 ms']);
    await measureStore(folder, before);
    const after = await syncRate(join(folder, 'probe'));
    printRow([
      'the disk: append 4 KiB, fdatasync',
      `${before.toFixed(0)}`,
      '',
      '',
      `after: ${after.toFixed(0)}`,
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureStore(folder: string, syncs: number): Promise<void> {
  const identity = { groupSuffix: 'k8s.io' };
  await using store = await openStore({ kind: 'sqlite', folder: join(folder, 'store'), identity });
  for (const writers of [1, 16, 64, 256]) {
    const { perSecond, cpuMs, latencies } = await write(store, writers, writers * (quick ? 100 : 500));
    const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2);
    const rates = [perSecond.toFixed(0), cpuMs.toFixed(3), (perSecond / syncs).toFixed(1)];
    printRow([`SQLite, ${writers} at a time`, ...rates, at(0.5), at(0.99)]);
  }
}

/** Each writer replaces its own key again and again, waiting for each write to be durable. */
async function write(store: Store, writers: number, count: number) {
  const latencies: number[] = [];
  const value = Buffer.alloc(valueBytes, 0x20);
  const [cpuBefore, startedMs] = [process.cpuUsage(), performance.now()];
  const one = async (writer: number) => {
    let revision = 0;
    for (let left = count / writers; left > 0; left--) {
      const sentMs = performance.now();
      const key = `/registry/bench/${writers}-${writer}`;
      const outcome = await store.commit({ key, expect: revision, value: new Uint8Array(value) });
      if (!outcome.ok) throw new Error(`a write was not accepted: ${outcome.code}`);
      revision = outcome.revision;
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => one(writer)));
  const { user, system } = process.cpuUsage(cpuBefore);
  latencies.sort((a, b) => a - b);
  const tookMs = performance.now() - startedMs;
  return { perSecond: (count * 1000) / tookMs, cpuMs: (user + system) / 1000 / count, latencies };
}

/** How often a second the disk can make a small append durable. */
async function syncRate(path: string): Promise<number> {
  await using file = await open(path, 'w');
  const block = Buffer.alloc(4_096, 1);
  const count = quick ? 100 : 500;
  const startedMs = performance.now();
  for (let written = 0; written < count; written++) {
    await file.write(block);
    await file.datasync();
  }
  return (count * 1000) / (performance.now() - startedMs);
}

await main();
