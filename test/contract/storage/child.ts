import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A script of this folder in a process of its own, whose lines are read one by one. Killed when disposed. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly lines: AsyncIterableIterator<string>;
  readonly #exit: Promise<unknown>;

  /** `wrapper`: a command to run it under, such as prlimit. */
  constructor(script: string, args: readonly string[], wrapper: readonly string[] = []) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    const [command = process.execPath, ...rest] = [...wrapper, process.execPath, path, ...args];
    this.#process = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#exit = once(this.#process, 'exit');
    if (this.#process.stdout === null) throw new Error('the child has no standard output');
    this.lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The next line; throws when there is none any more. */
  async line(): Promise<string> {
    const next = await this.lines.next();
    if (next.done) throw new Error('the child has ended');
    return next.value;
  }

  /** kill -9; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
  }
}
