import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Clock } from '../../base/index.ts';
import { createBackoff, describeError, errorCode, startChild } from '../../base/index.ts';

/** As `systemd-inhibit --list` shows who delays a shutdown. */
export const inhibitorName = 'nodeward';
const why = 'the pods of this node end before the machine does';

export interface InhibitorOptions {
  /** Replaceable for tests. */
  readonly program?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Called when the lock is held, and when it is not any more, with why; not for what `release` does. */
  onChange(state: { readonly isHeld: true } | { readonly isHeld: false; readonly reason: string }): void;
}

/** What a lost lock is taken again after. */
const retryMs = { initialMs: 1000, maxMs: 60_000, jitter: 0.2 };
/** After this time it has not been given: logind does not answer. */
const grantTimeoutMs = 30_000;
const maxErrorLength = 1000;

/**
 * The delay of a shutdown: logind waits while another process holds a file descriptor that it has handed out. Node cannot receive
 * one, so a child holds it, systemd's own `systemd-inhibit`, around a `cat` that answers once the lock is held, and that ends
 * with our end of its input: however this process ends, the lock does not outlive it.
 */
export class Inhibitor {
  readonly #options: InhibitorOptions;
  #wanted: AbortController | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: InhibitorOptions) {
    this.#options = options;
  }

  /** Takes the lock, again after it was lost, until `release`. */
  acquire(): void {
    if (this.#wanted !== undefined) return;
    const wanted = new AbortController();
    this.#wanted = wanted;
    this.#ended = this.#ended.then(() => this.#hold(wanted.signal));
  }

  /** Resolves when the child has ended, and with it the delay. */
  async release(): Promise<void> {
    this.#wanted?.abort();
    this.#wanted = undefined;
    await this.#ended;
  }

  async #hold(signal: AbortSignal): Promise<void> {
    const { clock, onChange } = this.#options;
    const backoff = createBackoff(retryMs);
    while (!signal.aborted) {
      const end = await runChild(this.#options, signal, () => {
        backoff.reset();
        onChange({ isHeld: true });
      });
      if (signal.aborted) return;
      onChange({ isHeld: false, reason: end });
      await clock.sleep(backoff.next(), signal);
    }
  }
}

/** Resolves with why it has ended, when nothing of it is left, or why it cannot be started. */
async function runChild(options: InhibitorOptions, signal: AbortSignal, onHeld: () => void): Promise<string> {
  const { env, program = 'systemd-inhibit' } = options;
  const argv = ['--what=shutdown', '--mode=delay', `--who=${inhibitorName}`, `--why=${why}`, 'cat'];
  let child: ChildProcessWithoutNullStreams;
  try {
    child = await startChild(() => spawn(program, argv, { cwd: '/', env: environmentOf(env) }));
  } catch (error) {
    return errorCode(error) === 'ENOENT'
      ? `there is no ${program} on this machine`
      : `${program} cannot be started: ${describeError(error)}`;
  }
  return await follow(child, options.clock, signal, onHeld);
}

/** Resolves when it has ended. */
async function follow(
  child: ChildProcessWithoutNullStreams,
  clock: Clock,
  signal: AbortSignal,
  onHeld: () => void,
): Promise<string> {
  const settled = new AbortController();
  let isLate = false;
  const giveUp = () => {
    child.stdin.destroy();
    child.kill('SIGKILL'); // it may wait for logind
  };
  signal.addEventListener('abort', giveUp, { once: true });
  const ended = endOf(child);
  const timeout = clock.sleep(grantTimeoutMs, settled.signal).then(() => {
    isLate = !settled.signal.aborted;
    if (isLate) giveUp();
  });
  child.stdout.once('data', () => {
    settled.abort();
    if (!signal.aborted) onHeld();
  });
  child.stdin.write('held?\n');
  if (signal.aborted) giveUp();
  try {
    const how = await ended;
    return isLate ? `logind has not given the lock within ${grantTimeoutMs / 1000} s` : how;
  } finally {
    settled.abort();
    signal.removeEventListener('abort', giveUp);
    child.stdin.destroy();
    await timeout;
  }
}

function environmentOf(env: InhibitorOptions['env']): Record<string, string> {
  const address = env['DBUS_SYSTEM_BUS_ADDRESS'];
  const path = [env['PATH'], '/usr/bin:/bin'].filter(Boolean).join(':');
  return { PATH: path, LC_ALL: 'C', ...(address === undefined ? {} : { DBUS_SYSTEM_BUS_ADDRESS: address }) };
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(0, maxErrorLength);
  });
  child.stdin.on('error', () => undefined); // it has ended, which 'close' says
  child.once('close', (code, signal) => {
    const how = signal === null ? `with code ${code}` : `by ${signal}`;
    resolve(said.trim() || `${child.spawnfile} ended ${how}`);
  });
  return await promise;
}
