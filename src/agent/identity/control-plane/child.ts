import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { boundedMemoryFlags, toControlPlaneEnvironment } from '../../../base/bounded-memory/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { ReadyMessage, SignMessage, ToControlPlane } from '../../../client/embedded/index.ts';
import { readToAgent } from '../../../client/embedded/index.ts';

export interface ChildOptions {
  /** The program: main.js, or main.ts where sources run as they are. */
  script: string;
  args: readonly string[];
  clock: Clock;
  /** Between two pings. */
  pingMs: number;
  /** How long the child may leave pings unanswered before it is killed. */
  silenceMs: number;
  /** Between the request to stop and the kill. */
  stopMs: number;
  /** How long one signature may take. */
  signMs: number;
  onReady(message: ReadyMessage): void;
}

/** How a child ended. */
export interface Ending {
  /** As the child reported it, else that of the process; undefined when a signal ended it. */
  exitCode: number | undefined;
  message: string;
}

/** Standard input, output, error and channel: all that the child writes goes unchanged to our standard error. */
const stdio = ['ignore', 2, 2, 'ipc'] as const;

/** A control plane that runs as a child process and is pinged. */
export class Child {
  readonly pid: number | undefined;
  /** Resolves when the process is gone and all its messages are read; never rejects. */
  readonly ended: Promise<Ending>;
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<string>>();
  readonly #hasEnded = new AbortController();
  #silentMs = 0;
  #lastId = 0;
  #reported: Ending | undefined;
  #killed: string | undefined;
  #stopped: Promise<void> | undefined;

  /** Starts the process. Throws when the system cannot create one. */
  constructor(options: ChildOptions) {
    this.#options = options;
    this.#process = fork(options.script, ['apiserver', ...options.args], {
      stdio: [...stdio],
      execArgv: [...boundedMemoryFlags],
      env: toControlPlaneEnvironment(process.env),
    });
    this.pid = this.#process.pid;
    this.ended = waitForEnd(this.#process).then((end) => this.#onEnd(end));
    this.#process.on('message', (value) => this.#onMessage(value));
    void this.#watch();
  }

  /** Has a certificate signed. Rejects when the child refuses, takes too long, or ends before it has answered. */
  async sign(request: Omit<SignMessage, 'type' | 'id'>): Promise<string> {
    if (this.#hasEnded.signal.aborted) throw new Error('the control plane has ended');
    const { clock, signMs } = this.#options;
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<string>();
    this.#pending.set(id, waiting);
    this.#send({ type: 'sign', id, ...request });
    const answered = new AbortController();
    void clock.sleep(signMs, answered.signal).then(() => {
      const late = `the control plane has not answered a request for a signature within ${signMs / 1000} s`;
      this.#settle(id)?.reject(new Error(late));
    });
    try {
      return await waiting.promise;
    } finally {
      answered.abort();
    }
  }

  /** Asks the child to stop, and kills it if it does not; resolves when it is gone. May be called twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopNow();
    return this.#stopped;
  }

  #onEnd(end: Ending): Ending {
    this.#hasEnded.abort();
    const killed = this.#killed;
    const ending = this.#reported ?? (killed === undefined ? end : { exitCode: undefined, message: killed });
    for (const { reject } of this.#pending.values())
      reject(new Error(`the control plane ended: ${ending.message}`));
    this.#pending.clear();
    return ending;
  }

  #onMessage(value: unknown): void {
    const message = readToAgent(value);
    if (message === undefined) return;
    this.#silentMs = 0;
    if (message.type === 'ready') this.#options.onReady(message);
    else if (message.type === 'failed')
      this.#reported = { exitCode: message.exitCode, message: message.message };
    else if (message.type === 'signed') this.#settle(message.id)?.resolve(message.pem);
    else if (message.type === 'refused') this.#settle(message.id)?.reject(new Error(message.why));
  }

  /** Removes and returns the request that waits for this answer; undefined when it no longer waits. */
  #settle(id: number): PromiseWithResolvers<string> | undefined {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    return waiting;
  }

  #send(message: ToControlPlane): void {
    // the child ends when its channel is closed
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #kill(why: string): void {
    this.#killed ??= why;
    this.#process.kill('SIGKILL');
  }

  /** Counts pings, not time: while this process itself stood still, the child is not at fault. */
  async #watch(): Promise<void> {
    const { clock, pingMs, silenceMs } = this.#options;
    while (this.#silentMs < silenceMs) {
      this.#send({ type: 'ping' });
      await clock.sleep(pingMs, this.#hasEnded.signal);
      if (this.#hasEnded.signal.aborted) return;
      this.#silentMs += pingMs;
    }
    this.#kill(`it was silent for ${this.#silentMs / 1000} s and was killed`);
  }

  async #stopNow(): Promise<void> {
    const { clock, stopMs } = this.#options;
    const { signal } = this.#hasEnded;
    this.#send({ type: 'stop' });
    await Promise.race([this.ended, clock.sleep(stopMs, signal)]);
    if (!signal.aborted) this.#kill(`it did not stop within ${stopMs / 1000} s and was killed`);
    await this.ended;
  }
}

/** Resolves when a process is gone and its channel is read to the end, or when it could not be started. */
function waitForEnd(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) =>
      resolve({
        exitCode: code ?? undefined,
        message: signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`,
      }),
    );
    // stays for good: an error without a listener would end this process
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      resolve({ exitCode: undefined, message: `it could not be started: ${error.message}` });
    });
  });
}
