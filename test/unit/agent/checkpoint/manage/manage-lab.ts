import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { composeCheckpointId } from '../../../../../src/agent/checkpoint/checkpoint-id.ts';
import type {
  CheckpointRequest,
  MadeCheckpoint,
  RetentionSettings,
} from '../../../../../src/agent/checkpoint/index.ts';
import {
  createCheckpointManager,
  createCheckpointRoutes,
  openArchiveFolder,
} from '../../../../../src/agent/checkpoint/index.ts';
import type { CheckpointRecord } from '../../../../../src/agent/checkpoint/record.ts';
import { formatRecord } from '../../../../../src/agent/checkpoint/record.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { createMetrics, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';
import { admin, cluster, startServer } from '../../server/running-server.ts';

export const noon = Date.UTC(2026, 0, 2, 12);

export interface MakeOptions {
  namespace?: string;
  pod?: string;
  container?: string;
  content?: Uint8Array;
  /** Milliseconds since 1970; default noon and a second for each that was made. */
  madeMs?: number;
  pinned?: boolean;
  /** Id of the set that it belongs to. */
  set?: string;
}

/** A folder of checkpoints that a test fills. */
export async function folderLab() {
  await using setup = new AsyncDisposableStack();
  const { path: rootDir } = setup.use(await temporaryFolder());
  const path = join(rootDir, 'checkpoints');
  const draft = join(path, '.inflight-1');
  await mkdir(draft, { recursive: true });
  const { log, text } = recordedLog();
  const archives = openArchiveFolder(path, log);
  let made = 0;
  async function make(options: MakeOptions = {}): Promise<MadeCheckpoint> {
    const { namespace = 'shop', pod = 'web', container = 'main', pinned = false } = options;
    const { content = Buffer.from('archive'), madeMs = noon + made * 1000 } = options;
    made += 1;
    const id = composeCheckpointId({ namespace, pod, container }, madeMs, made);
    const member = options.set === undefined ? {} : { set: options.set };
    const record = { ...recordOf(id, { namespace, pod, container }, content, madeMs, pinned), ...member };
    const files = { archive: join(draft, `${made}.tar`), sidecar: join(draft, `${made}.json`) };
    await writeFile(files.archive, content, { mode: 0o600 });
    await writeFile(files.sidecar, formatRecord(record), { mode: 0o600 });
    await archives.publish(id, files);
    const stored = await archives.read(id);
    if (stored === undefined) throw new Error(`${id} was not made`);
    return { ...stored, record };
  }
  const ids = async () => (await archives.list()).map(({ id }) => id);
  const resources = setup.move();
  return {
    rootDir,
    path,
    archives,
    make,
    ids,
    log,
    logged: text,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function recordOf(
  id: string,
  target: { namespace: string; pod: string; container: string },
  content: Uint8Array,
  madeMs: number,
  pinned: boolean,
): CheckpointRecord {
  const at = new Date(madeMs).toISOString();
  return {
    formatVersion: 1,
    id,
    archive: `${id}.tar`,
    sha256: createHash('sha256').update(content).digest('hex'),
    sizeBytes: content.length,
    node: 'node-a',
    ...target,
    podUid: 'u1',
    containerId: 'c1',
    image: 'shop/web:1',
    imageRef: 'sha256:1',
    runtime: { name: 'containerd', version: '2.1.9' },
    criuVersion: '4.2.1',
    startedAt: at,
    finishedAt: at,
    durationMs: 0,
    pausedMs: 0,
    pausedMeasuredBy: 'freezer',
    requester: 'alice',
    nodewardVersion: '0.1.0',
    pinned,
  };
}

export interface ManageLabOptions {
  retention?(): RetentionSettings;
  /** What making a checkpoint does, with the folder at hand. */
  checkpoint?(request: CheckpointRequest, make: () => Promise<MadeCheckpoint>): Promise<MadeCheckpoint>;
  clock?: Clock;
}

/** A folder of checkpoints, managed over an agent's server. */
export async function manageLab({ retention, checkpoint, clock = systemClock }: ManageLabOptions = {}) {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await folderLab());
  const listeners = new Set<(made: MadeCheckpoint) => void>();
  const metrics = createMetrics();
  const asked: CheckpointRequest[] = [];
  const checkpointer = {
    archives: folder.archives,
    async checkpoint(order: CheckpointRequest) {
      asked.push(order);
      const { namespace, pod, container } = order;
      const make = () => folder.make({ namespace, pod, container });
      const made = checkpoint ? await checkpoint(order, make) : await make();
      for (const listener of listeners) listener(made);
      return made;
    },
    onMade(listener: (made: MadeCheckpoint) => void) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
  const manager = createCheckpointManager({
    checkpointer,
    retention: retention ?? (() => ({})),
    metrics,
    clock,
    log: folder.log,
  });
  const { operations } = manager;
  const routes = [...createCheckpointRoutes({ checkpointer, operations, enabled: true }), ...manager.routes];
  const server = setup.use(await startServer({ routes }));
  const stop = new AbortController();
  setup.defer(() => stop.abort());
  const resources = setup.move();
  return {
    ...folder,
    server,
    manager,
    asked,
    /** The metric of that name and labels, as it is written. */
    metric: async (line: string) => {
      const found = (await metrics.metrics()).split('\n').find((each) => each.startsWith(`${line} `));
      return Number(found?.slice(line.length + 1) ?? Number.NaN);
    },
    /** Keeps to the limits until the end. */
    keep: () => void manager.run(stop.signal),
    ask: (method: string, path: string, options?: SendOptions) => send(server.port, method, path, options),
    open: (path: string, headers: Record<string, string> = {}) => open(server.port, 'GET', path, { headers }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export interface SendOptions {
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export interface Received {
  code: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  bytes: Buffer;
  text: string;
  /** The body as JSON; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  json: any;
}

export interface Opened {
  code: number;
  headers: Received['headers'];
  body: Readable;
}

function open(
  port: number,
  method: string,
  path: string,
  { headers = {}, body }: SendOptions,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const { cert, key } = admin;
    const options = {
      port,
      host: '127.0.0.1',
      servername: 'node-a',
      ca: cluster.ca,
      cert,
      key,
      agent: false,
    };
    request({ ...options, method, path, headers }, (answer) =>
      resolve({ code: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
    )
      .on('error', reject)
      .end(body);
  });
}

async function send(
  port: number,
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Received> {
  const { code, headers, body } = await open(port, method, path, options);
  const bytes = Buffer.concat(await Array.fromAsync(body, (chunk) => Buffer.from(chunk)));
  const text = bytes.toString('utf8');
  return { code, headers, bytes, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
