import { Readable, Writable } from 'node:stream';
import { run } from '../../../src/cli/index.ts';

export interface CommandEnd {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line in this process, with nothing of this process but its arguments; `input` is piped in, and what it prints goes to `output` if there is one. */
export async function runCommandLine(
  args: readonly string[],
  input: string | Uint8Array = '',
  output?: Writable,
): Promise<CommandEnd> {
  const [stdout, stderr] = [recorder(), recorder()];
  const stop = new AbortController();
  const code = await run(args, {
    env: {},
    stdout: output ?? stdout.stream,
    stderr: stderr.stream,
    stdin: Readable.from([Buffer.from(input)]),
    signal: stop.signal,
    onHangup: () => ({ [Symbol.dispose]: () => undefined }),
    stop: () => stop.abort(),
    script: '/nowhere/main.js',
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
