/**
 * What a checkpoint through the agent costs beside the runtime's own work: `node bench/checkpoint.ts [quick]`, as root,
 * with the laboratory's containerd. The same container is checkpointed by a plain call of the runtime and through the
 * checkpointer, in turns in one run; the hash is measured by itself, and so is the event loop while it is made.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createDigester } from '../src/agent/checkpoint/dump/digest.ts';
import type { MadeCheckpoint } from '../src/agent/checkpoint/index.ts';
import { createCheckpointer } from '../src/agent/checkpoint/index.ts';
import { RuntimeService } from '../src/agent/runtime/gen/cri_pb.js';
import { connectRuntime } from '../src/agent/runtime/index.ts';
import { silentLogger } from '../src/base/index.ts';
import type { LabContainer, LabContainerd } from '../test/integration/lab/index.ts';
import { holdingMemory, startContainerd } from '../test/integration/lab/index.ts';
import { printRow } from './report.ts';

const quick = process.argv.includes('quick');
const rounds = quick ? 5 : 20;
const mebibyte = 1024 * 1024;
const cancel = new AbortController().signal;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startedMs = performance.now();
  const value = await work();
  return { ms: performance.now() - startedMs, value };
}

/** The plain call, with a file that is made durable as the agent does it. */
async function direct({ cri }: LabContainerd, { id }: LabContainer, location: string): Promise<void> {
  await cri.call(RuntimeService.method.checkpointContainer, { containerId: id, location }, 120_000);
  await using file = await open(location, 'r');
  await file.sync();
}

async function compare(folder: string, containerd: LabContainerd, mebibytes: number): Promise<void> {
  const pod = await containerd.startPod();
  const container = await pod.startContainer(mebibytes > 0 ? { workload: holdingMemory(mebibytes) } : {});
  await container.countsOn();
  await using runtime = connectRuntime({ endpoint: containerd.endpoint, log: silentLogger() });
  await runtime.refresh();
  await using checkpointer = createCheckpointer({
    runtime,
    rootDir: folder,
    nodeName: 'bench',
    log: silentLogger(),
  });
  const target = { namespace: 'default', pod: pod.name, container: 'main', requester: 'bench', cancel };
  const [plain, ours]: [number[], number[]] = [[], []];
  let last: MadeCheckpoint | undefined;
  for (let round = 0; round < (mebibytes > 0 ? Math.ceil(rounds / 4) : rounds); round++) {
    const location = join(folder, 'direct.tar');
    plain.push((await timed(() => direct(containerd, container, location))).ms);
    await rm(location);
    const { ms, value } = await timed(() => checkpointer.checkpoint(target));
    ours.push(ms);
    last = value;
    await checkpointer.archives.remove(value.id);
  }
  const [a, b] = [median(plain), median(ours)];
  const bytes = last?.bytes ?? 0;
  const cells = [
    (bytes / mebibyte).toFixed(1),
    a.toFixed(1),
    b.toFixed(1),
    (b - a).toFixed(1),
    (b / a).toFixed(3),
  ];
  printRow([`container of ${mebibytes} MiB`, ...cells]);
  await pod.remove();
}

async function hash(folder: string, mebibytes: number): Promise<void> {
  const path = join(folder, 'hashed');
  await using file = await open(path, 'w');
  const part = randomBytes(mebibyte);
  for (let written = 0; written < mebibytes; written++) await file.write(part);
  await using digester = createDigester(mebibytes * mebibyte);
  const order = { path, heads: [], maxHeadBytes: 1 };
  await digester.digest(order, cancel); // the file is in memory then, as a fresh archive is
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const { ms } = await timed(() => digester.digest(order, cancel));
  delay.disable();
  const rate = (mebibytes * mebibyte) / 1e9 / (ms / 1000);
  printRow([`hash of ${mebibytes} MiB in its thread`, `${rate.toFixed(2)} GB/s`, `${ms.toFixed(0)} ms`]);
  printRow(['event loop meanwhile, worst delay', `${(delay.max / 1e6).toFixed(1)} ms`]);
}

const folder = await mkdtemp(join(tmpdir(), 'nodeward-bench-'));
try {
  await hash(folder, quick ? 256 : 1024);
  await using containerd = await startContainerd();
  printRow(['', 'archive MiB', 'direct ms', 'agent ms', 'more ms', 'ratio']);
  await compare(folder, containerd, 0);
  await compare(folder, containerd, 128);
} finally {
  await rm(folder, { recursive: true, force: true });
}
