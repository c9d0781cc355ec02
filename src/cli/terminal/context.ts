import { fstatSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import type { ExitCode, LogFormat, Logger } from '../../base/index.ts';
import { createLogger, describeError, ExitError, exitCodes } from '../../base/index.ts';
import type { ParentChannel } from '../../client/embedded/index.ts';

/** What a command gets from its process. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  stdout: WriteStream | NodeJS.WritableStream;
  stderr: WriteStream | NodeJS.WritableStream;
  /** Unset where there is no standard input. */
  stdin?: AsyncIterable<Uint8Array | string>;
  /** Aborts when the process must stop. */
  signal: AbortSignal;
  /**
   * Until the returned object is disposed of, SIGHUP calls `listener` instead of stopping the process, unless the
   * terminal has been closed.
   */
  onHangup(listener: () => void): Disposable;
  /**
   * Until the returned object is disposed of, calls `listener` when the process exits, however that comes about; at a crash before
   * its error is printed.
   */
  onExit(listener: () => void): Disposable;
  /** Starts the ordered stop of this process. */
  stop(): void;
  /** Path of the program's own file, to start a child process with. */
  script: string;
  /** The agent that started this process as its control plane, if one did. */
  agent: ParentChannel | undefined;
}

export interface LogFlags {
  logFormat?: LogFormat;
  verbose?: boolean;
}

/** A failure that has been reported already: only the exit code is left to be set. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('this failure has been reported');
    this.exitCode = exitCode;
  }
}

/**
 * For commands whose exit code 1 is a result ("no", "something differs"): an error that would end with 1 ends with 2
 * instead; other exit codes stay.
 */
export function withoutExitCode1(error: unknown): unknown {
  if (error instanceof ExitError && error.exitCode !== exitCodes.failed) return error;
  return new ExitError(exitCodes.usage, describeError(error), { cause: error });
}

/**
 * The log of a command, on standard error; without `--log-format` as text on a terminal and in systemd's journal, and as JSON
 * elsewhere.
 */
export function commandLogger(context: CommandContext, flags: LogFlags): Logger {
  const terminal = isTerminal(context.stderr);
  const journal = isJournal(context.stderr, context.env);
  return createLogger({
    format: flags.logFormat ?? (terminal || journal ? 'text' : 'json'),
    level: flags.verbose ? 'debug' : 'info',
    output: context.stderr,
    colour: terminal && !context.env['NO_COLOR'],
    journal,
  });
}

export function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

/** Whether the stream is connected to systemd's journal, which names it by device and inode (systemd.exec(5)). */
export function isJournal(stream: NodeJS.WritableStream, env: NodeJS.ProcessEnv): boolean {
  const [, device, inode] = /^(\d+):(\d+)$/.exec(env['JOURNAL_STREAM'] ?? '') ?? [];
  if (inode === undefined || !('fd' in stream) || typeof stream.fd !== 'number') return false;
  try {
    const { dev, ino } = fstatSync(stream.fd, { bigint: true });
    return String(dev) === device && String(ino) === inode;
  } catch {
    return false; // it is closed
  }
}
