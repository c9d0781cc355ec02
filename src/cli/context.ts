import type { WriteStream } from 'node:tty';
import type { ExitCode, LogFormat, Logger } from '../base/index.ts';
import { createLogger } from '../base/index.ts';
import type { ParentChannel } from '../client/embedded/index.ts';

/** What a command gets of the process. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  stdout: WriteStream | NodeJS.WritableStream;
  stderr: WriteStream | NodeJS.WritableStream;
  /** What is piped in; unset where nothing can be. */
  stdin?: AsyncIterable<Uint8Array | string>;
  /** Aborts when the process is told to stop. */
  signal: AbortSignal;
  /**
   * From now until the answer is disposed of, SIGHUP calls `listener` and does not stop the process, unless its terminal
   * has gone.
   */
  onHangup(listener: () => void): Disposable;
  /** Begins the ordered stop from inside. */
  stop(): void;
  /** The program's own file, to start it anew. */
  script: string;
  /** The agent that started this process as its control plane, if one did. */
  agent: ParentChannel | undefined;
}

export interface LogFlags {
  logFormat?: LogFormat;
  verbose?: boolean;
}

/** A failure that somebody has been told already: nothing is left but the exit code. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('this failure has been reported');
    this.exitCode = exitCode;
  }
}

/** The log of a command: to standard error, as text on a terminal and as JSON elsewhere unless told otherwise. */
export function commandLogger(context: CommandContext, flags: LogFlags): Logger {
  const terminal = isTerminal(context.stderr);
  return createLogger({
    format: flags.logFormat ?? (terminal ? 'text' : 'json'),
    level: flags.verbose ? 'debug' : 'info',
    output: context.stderr,
    colour: terminal && !context.env['NO_COLOR'],
  });
}

export function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
