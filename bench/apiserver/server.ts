import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { boundedMemoryEnvironment, boundedMemoryFlags } from '../../src/base/bounded-memory/index.ts';
import type { Target } from './connection.ts';

const root = resolve(import.meta.dirname, '../..');
/** The built program, or the one whose folder is given in the environment, to compare one build with another. */
const dist = process.env['NODEWARD_DIST'] ?? join(root, 'dist');

export interface Server extends AsyncDisposable {
  target: Target;
  /** From the start of the process until it served. */
  readyMs: number;
  folder: string;
}

export interface ServerSettings {
  /** Further arguments of the command. */
  readonly args?: readonly string[];
  /** Keys and certificates are this server's, so that clients of one are clients of the other. */
  readonly beside?: Server | undefined;
  /** The folder of the built program; default this one's. */
  readonly program?: string | undefined;
}

/**
 * Starts the built control plane as an agent does, or without flags as a person does, with an empty store; disposing
 * stops it and removes the store.
 */
export async function startServer(
  nodeOptions: readonly string[] = boundedMemoryFlags,
  { args = [], beside, program = dist }: ServerSettings = {},
): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-bench-'));
  if (beside !== undefined) await cp(join(beside.folder, 'pki'), join(folder, 'pki'), { recursive: true });
  const startedMs = performance.now();
  const command = [
    join(program, 'main.js'),
    'apiserver',
    '--root-dir',
    folder,
    '--secure-port',
    '0',
    ...args,
  ];
  const child = spawn(process.execPath, [...nodeOptions, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: nodeOptions.length === 0 ? process.env : { ...process.env, ...boundedMemoryEnvironment },
  });
  const stop = async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const url = /serving on (\S+)/.exec(await firstLine(child.stdout))?.[1] ?? '';
    const readyMs = performance.now() - startedMs;
    const read = (name: string) => readFile(join(folder, 'pki', name), 'utf8');
    const [ca, cert, key] = [await read('ca.crt'), await read('admin.crt'), await read('admin.key')];
    return {
      target: { url, pid: child.pid ?? 0, ca, cert, key },
      readyMs,
      folder,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the bare HTTPS server, or another script that takes its place, with the certificates of a control plane. */
export async function startBaseline(
  { folder, target }: Server,
  script = 'baseline-server.ts',
): Promise<Server> {
  const files = ['apiserver.crt', 'apiserver.key'].map((name) => join(folder, 'pki', name));
  const startedMs = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = `https://127.0.0.1:${(await firstLine(child.stdout)).trim()}`;
  return {
    target: { ...target, url, pid: child.pid ?? 0 },
    readyMs: performance.now() - startedMs,
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes('\n')) return text;
  }
  throw new Error('the server ended before it served');
}
