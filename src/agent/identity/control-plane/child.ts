import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { boundedMemoryEnvironment, boundedMemoryFlags } from '../../../base/bounded-memory/index.ts';
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

export interface Child {
  readonly pid: number | undefined;
  /** Resolves when the process is gone and all its messages are read; never rejects. */
  readonly ended: Promise<Ending>;
  /** Has a certificate signed. Rejects when the child refuses, takes too long, or ends before it has answered. */
  sign(request: Omit<SignMessage, 'type' | 'id'>): Promise<string>;
  /** Asks the child to stop, and kills it if it does not; resolves when it is gone. May be called twice. */
  stop(): Promise<void>;
}

/** Standard input, output, error and channel: all that the child writes goes unchanged to our standard error. */
const stdio = ['ignore', 2, 2, 'ipc'] as const;

/** Starts a control plane as a child process and pings it. Throws when the system cannot create a process. */
export function startChild(options: ChildOptions): Child {
  const { clock, signMs } = options;
  const forked = fork(options.script, ['apiserver', ...options.args], {
    stdio: [...stdio],
    execArgv: [...boundedMemoryFlags],
    env: { ...process.env, ...boundedMemoryEnvironment },
  });
  const pending = new Map<number, PromiseWithResolvers<string>>();
  const hasEnded = new AbortController();
  let silentMs = 0;
  let lastId = 0;
  let reported: Ending | undefined;
  let killed: string | undefined;
  let stopped: Promise<void> | undefined;

  const ended = waitForEnd(forked).then((end): Ending => {
    hasEnded.abort();
    const ending = reported ?? (killed === undefined ? end : { exitCode: undefined, message: killed });
    for (const { reject } of pending.values())
      reject(new Error(`the control plane ended: ${ending.message}`));
    pending.clear();
    return ending;
  });

  forked.on('message', (value) => {
    const message = readToAgent(value);
    if (message === undefined) return;
    silentMs = 0;
    if (message.type === 'ready') options.onReady(message);
    else if (message.type === 'failed') reported = { exitCode: message.exitCode, message: message.message };
    else if (message.type === 'signed') settle(message.id)?.resolve(message.pem);
    else if (message.type === 'refused') settle(message.id)?.reject(new Error(message.why));
  });

  function settle(id: number): PromiseWithResolvers<string> | undefined {
    const waiting = pending.get(id);
    pending.delete(id);
    return waiting;
  }

  function send(message: ToControlPlane): void {
    if (forked.connected) forked.send(message, () => undefined); // the child ends when its channel is closed
  }

  function kill(why: string): void {
    killed ??= why;
    forked.kill('SIGKILL');
  }

  /** Counts pings, not time: while this process itself stood still, the child is not at fault. */
  async function watch(): Promise<void> {
    while (silentMs < options.silenceMs) {
      send({ type: 'ping' });
      await clock.sleep(options.pingMs, hasEnded.signal);
      if (hasEnded.signal.aborted) return;
      silentMs += options.pingMs;
    }
    kill(`it was silent for ${silentMs / 1000} s and was killed`);
  }
  void watch();

  async function stopNow(): Promise<void> {
    send({ type: 'stop' });
    await Promise.race([ended, clock.sleep(options.stopMs, hasEnded.signal)]);
    if (!hasEnded.signal.aborted) kill(`it did not stop within ${options.stopMs / 1000} s and was killed`);
    await ended;
  }

  return {
    pid: forked.pid,
    ended,
    async sign(request) {
      if (hasEnded.signal.aborted) throw new Error('the control plane has ended');
      const id = ++lastId;
      const waiting = Promise.withResolvers<string>();
      pending.set(id, waiting);
      send({ type: 'sign', id, ...request });
      const answered = new AbortController();
      void clock.sleep(signMs, answered.signal).then(() => {
        const late = `the control plane has not answered a request for a signature within ${signMs / 1000} s`;
        settle(id)?.reject(new Error(late));
      });
      try {
        return await waiting.promise;
      } finally {
        answered.abort();
      }
    },
    stop() {
      stopped ??= stopNow();
      return stopped;
    },
  };
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
