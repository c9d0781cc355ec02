import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { errorCode, startChild, systemClock } from '../../base/index.ts';
import type { PathQuery, PathResult } from './inspect-path.ts';
import { inspectPathInChild } from './inspect-path.ts';

/** The machine that is checked; tests pass a prepared folder instead. */
export interface Host {
  /** As `uname -r` prints it. */
  readonly kernelRelease: string;
  /** The effective user id of this process. */
  readonly user: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'now'>;
  /** Time since the boot without suspends (CLOCK_MONOTONIC). */
  awakeMs(): number;
  /**
   * The first 4 MiB of a file of the kernel (/proc, /sys), which is read from memory; undefined where it is missing or
   * may not be read. Not for files on disks: the read would block.
   */
  read(path: string): string | undefined;
  /** The names in a folder of the kernel, sorted; none where it cannot be read. */
  names(path: string): readonly string[];
  /** The target of a symbolic link of the kernel; undefined where it cannot be read. */
  link(path: string): string | undefined;
  /** Inspects a path that may be on a disk or a network file system, which may hang: `signal` ends the wait. */
  inspectPath(what: PathQuery, signal: AbortSignal): Promise<PathResult>;
  /** Runs a program to its end, killed when `signal` aborts. Undefined where there is no such program. */
  exec(command: string, argv: readonly string[], signal: AbortSignal): Promise<ProgramResult | undefined>;
}

export interface ProgramResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Standard output and error, interleaved as they came, at most 64 KiB. */
  readonly output: string;
}

const maxKernelFileBytes = 4 * 1024 * 1024;
const maxOutputLength = 64 * 1024;

/** This machine. */
export function createLocalHost(options: { env: NodeJS.ProcessEnv; clock?: Clock }): Host {
  return {
    ...createKernelReader('/'),
    kernelRelease: release(),
    user: process.geteuid?.() ?? 0,
    env: options.env,
    clock: options.clock ?? systemClock,
    awakeMs: () => Number(process.hrtime.bigint() / 1_000_000n),
    inspectPath: inspectPathInChild,
    exec: (command, argv, signal) => runProgram(command, argv, options.env, signal),
  };
}

/** The part of a Host that reads the kernel's files below `root`. */
export function createKernelReader(root: string): Pick<Host, 'read' | 'names' | 'link'> {
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
    while (total < maxKernelFileBytes) {
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

/** Added to PATH: an ordinary user's often lacks the folders of system tools. */
const toolFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

async function runProgram(
  command: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ProgramResult | undefined> {
  signal.throwIfAborted();
  const path = [env['PATH'], toolFolders].filter(Boolean).join(':');
  const child = await startChild(() =>
    spawn(command, [...argv], {
      env: { ...env, PATH: path, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  ).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
  if (child === undefined) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<ProgramResult>();
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(0, maxOutputLength);
    });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdout.destroy(); // a child that SIGKILL cannot end must not keep this process alive
    child.stderr.destroy();
    child.unref();
    reject(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  child.once('close', (code) => resolve({ code, output }));
  return await promise.finally(() => signal.removeEventListener('abort', giveUp));
}
