import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { errorCode, systemClock } from '../../base/index.ts';
import type { Look, Looked } from './look.ts';
import { lookApart } from './look.ts';

/** The machine that is looked at; a test passes a prepared folder in its place. */
export interface Host {
  /** As `uname -r` says. */
  readonly kernelRelease: string;
  /** The effective user id of this process. */
  readonly user: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'now'>;
  /** Since the boot, without the time for which the machine was suspended (CLOCK_MONOTONIC). */
  awakeMs(): number;
  /**
   * A file of the kernel (/proc, /sys), which answers from memory: its first 4 MiB, or undefined where it is missing or
   * may not be read. Never for files on disks.
   */
  read(path: string): string | undefined;
  /** The names in a folder of the kernel, sorted; none where it cannot be read. */
  names(path: string): readonly string[];
  /** Where a symbolic link of the kernel leads. */
  link(path: string): string | undefined;
  /** Looks at what may be on a disk or behind a network, and may never answer: `signal` ends the wait. */
  look(what: Look, signal: AbortSignal): Promise<Looked>;
  /** Runs a program to its end, killed when `signal` aborts. Undefined where there is no such program. */
  exec(command: string, argv: readonly string[], signal: AbortSignal): Promise<Ran | undefined>;
}

export interface Ran {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Standard output and error as they came, at most 64 KiB. */
  readonly output: string;
}

const kernelFileLimit = 4 * 1024 * 1024;
const outputLimit = 64 * 1024;

/** This machine. */
export function thisHost(options: { env: NodeJS.ProcessEnv; clock?: Clock }): Host {
  return {
    ...kernelFiles('/'),
    kernelRelease: release(),
    user: process.geteuid?.() ?? 0,
    env: options.env,
    clock: options.clock ?? systemClock,
    awakeMs: () => Number(process.hrtime.bigint() / 1_000_000n),
    look: lookApart,
    exec: (command, argv, signal) => run(command, argv, options.env, signal),
  };
}

/** The part of a Host that reads the kernel's files below `root`. */
export function kernelFiles(root: string): Pick<Host, 'read' | 'names' | 'link'> {
  const quietly = <T>(ask: () => T): T | undefined => {
    try {
      return ask();
    } catch {
      return undefined;
    }
  };
  return {
    read: (path) => quietly(() => readKernelFile(join(root, path))),
    names: (path) => quietly(() => readdirSync(join(root, path)).sort()) ?? [],
    link: (path) => quietly(() => readlinkSync(join(root, path))),
  };
}

function readKernelFile(path: string): string {
  const descriptor = openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let total = 0;
    while (total < kernelFileLimit) {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      const count = readSync(descriptor, chunk, 0, chunk.length, null);
      if (count === 0) break;
      chunks.push(chunk.subarray(0, count));
      total += count;
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** System tools are often outside the path of an ordinary user. */
const toolFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function run(
  command: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Ran | undefined> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Ran | undefined>();
  const path = [env['PATH'], toolFolders].filter(Boolean).join(':');
  const child = spawn(command, [...argv], {
    env: { ...env, PATH: path, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(0, outputLimit);
    });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdout.destroy(); // one that not even SIGKILL ends must not hold this process
    child.stderr.destroy();
    child.unref();
    reject(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  child.once('error', (error) => (errorCode(error) === 'ENOENT' ? resolve(undefined) : reject(error)));
  child.once('close', (code) => resolve({ code, output }));
  return promise.finally(() => signal.removeEventListener('abort', giveUp));
}
