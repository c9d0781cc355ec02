import { Readable, Writable } from 'node:stream';
import type { CommandContext } from '../../../src/cli/index.ts';
import { run } from '../../../src/cli/index.ts';
import type { OutputFormat } from '../../../src/cli/terminal/output.ts';
import { writeResult } from '../../../src/cli/terminal/output.ts';
import type { Result } from '../../../src/cli/terminal/result.ts';

export interface Written {
  stdout: string;
  stderr: string;
}

export interface CommandEnd extends Written {
  code: number;
}

export interface RunOptions {
  /** Piped in. */
  input?: string | Uint8Array;
  /** Where standard output goes; without it, into the result. */
  output?: Writable;
  /** Whether both outputs are a terminal. */
  terminal?: boolean;
  env?: NodeJS.ProcessEnv;
  /** The program's own file. */
  script?: string;
}

/**
 * Runs the command line in this process, with nothing of this process but its arguments; `input` is piped in, or given
 * beside the environment, and what it prints goes to `output` if there is one.
 */
export async function runCommandLine(
  args: readonly string[],
  input: string | Uint8Array | Pick<RunOptions, 'env' | 'input' | 'script'> = '',
  output?: Writable,
): Promise<CommandEnd> {
  const options = typeof input === 'string' || input instanceof Uint8Array ? { input } : input;
  return await runCommandWith(args, { ...options, ...(output === undefined ? {} : { output }) });
}

/** The same with more of its surroundings. */
export async function runCommandWith(
  args: readonly string[],
  { output, terminal = false, ...surroundings }: RunOptions,
): Promise<CommandEnd> {
  const [stdout, stderr] = [recorder(terminal), recorder(terminal)];
  const streams = { stdout: output ?? stdout.stream, stderr: stderr.stream };
  const code = await run(args, createContext({ ...streams, ...surroundings }));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** What a command writes of this result with `-o`, for results that only other programs bring about. */
export function written<Row>(output: OutputFormat, result: Result<Row>, terminal = false): Written {
  const [stdout, stderr] = [recorder(terminal), recorder(terminal)];
  writeResult(createContext({ stdout: stdout.stream, stderr: stderr.stream }), output, result);
  return { stdout: stdout.text(), stderr: stderr.text() };
}

/** What a command gets of a process, for tests that make the tree of commands. */
export function createContext({
  stdout = recorder(false).stream,
  stderr = recorder(false).stream,
  input = '',
  env = {},
  script = '/nowhere/dist/main.js',
}: Partial<
  Pick<CommandContext, 'stdout' | 'stderr' | 'env' | 'script'> & { input: string | Uint8Array }
> = {}): CommandContext {
  const stop = new AbortController();
  return {
    env,
    stdout,
    stderr,
    stdin: Readable.from([Buffer.from(input)]),
    signal: stop.signal,
    onHangup: () => ({ [Symbol.dispose]: () => undefined }),
    onExit: () => ({ [Symbol.dispose]: () => undefined }),
    stop: () => stop.abort(),
    script,
    agent: undefined,
  };
}

function recorder(terminal: boolean) {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream: terminal ? Object.assign(stream, { isTTY: true }) : stream, text: () => text };
}
