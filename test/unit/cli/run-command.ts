import { Readable, Writable } from 'node:stream';
import { run } from '../../../src/cli/index.ts';

export interface CommandEnd {
  code: number;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** The program's own file. */
  script?: string;
}

/**
 * Runs the command line in this process, with nothing of this process but its arguments; `input` is piped in, or given
 * beside the environment, and what it prints goes to `output` if there is one.
 */
export async function runCommandLine(
  args: readonly string[],
  input: string | Uint8Array | Surroundings = '',
  output?: Writable,
): Promise<CommandEnd> {
  const isPiped = typeof input === 'string' || input instanceof Uint8Array;
  const { env, script = '/nowhere/dist/main.js' } = isPiped ? { env: {} } : input;
  const [stdout, stderr] = [recorder(), recorder()];
  const stop = new AbortController();
  const code = await run(args, {
    env,
    stdout: output ?? stdout.stream,
    stderr: stderr.stream,
    stdin: Readable.from([Buffer.from(isPiped ? input : '')]),
    signal: stop.signal,
    onHangup: () => ({ [Symbol.dispose]: () => undefined }),
    stop: () => stop.abort(),
    script,
    agent: undefined,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function recorder() {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
