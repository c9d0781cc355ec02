import { chmod, lstat, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Acceptor } from './connections.ts';
import { acceptAt } from './connections.ts';
import { GrpcError, grpcCodes } from './errors.ts';
import type { Implementation, Runner, Served, StreamingCall, UnaryCall } from './implement.ts';
import { findSocketPathFault } from './unix-path.ts';

export interface UnixServerOptions {
  /** Of the socket, absolute. An existing socket is replaced atomically. */
  readonly path: string;
  readonly services: readonly Implementation[];
  /** Of the socket; default 0600. */
  readonly mode?: number;
  /** In either direction; default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** At a time, streams included; further ones fail with RESOURCE_EXHAUSTED. Default 100. */
  readonly maxCalls?: number;
  readonly log: Logger;
}

const defaultMessageBytes = 4 * 1024 * 1024;

/** How long calls under way may take to end when the server closes, in milliseconds. */
const drainMs = 1000;

/**
 * Serves gRPC on a unix socket until disposed of; resolves once it listens. Only the mode of the socket and its folder
 * restrict who connects. Rejects with an Error that names the path: something there that is no socket, a folder that is
 * missing or cannot be written. Closing removes the socket, unless another has replaced it.
 */
export async function serveUnix(options: UnixServerOptions): Promise<AsyncDisposable> {
  const {
    path,
    services,
    mode = 0o600,
    maxMessageBytes = defaultMessageBytes,
    maxCalls = 100,
    log,
  } = options;
  const fault = findSocketPathFault(path);
  if (fault !== undefined) throw new Error(`${path}: ${fault}`);
  await refuseOther(path);
  setLogVerbosity(logVerbosity.NONE); // what it would write to standard error is also thrown
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': maxCalls,
  });
  const closing = new AbortController();
  const runner = createRunner(maxCalls, closing.signal, log);
  for (const { definition, handlers } of services) server.addService(definition, handlers(runner));
  const { inode, acceptor } = await listen(server, path, mode);
  return {
    async [Symbol.asyncDispose]() {
      acceptor.close();
      const now = await lstat(path).catch(() => undefined);
      if (now?.ino === inode) await unlink(path).catch(() => undefined);
      closing.abort();
      await drain(server);
      acceptor[Symbol.dispose]();
    },
  };
}

async function refuseOther(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isSocket()) return;
  throw new Error(`${path} is there already and is no socket; remove it`);
}

let drafts = 0;

/** Binds under another name first, so that clients never find the socket without its mode or its server. */
async function listen(
  server: Server,
  path: string,
  mode: number,
): Promise<{ inode: number; acceptor: Acceptor }> {
  drafts += 1;
  const draft = join(dirname(path), `.${process.pid}-${drafts}~`);
  await unlink(draft).catch(() => undefined);
  using undo = new DisposableStack();
  try {
    const acceptor = undo.use(await acceptAt(draft, server));
    await chmod(draft, mode);
    const { ino } = await lstat(draft);
    await rename(draft, path);
    undo.move();
    return { inode: ino, acceptor };
  } catch (error) {
    server.forceShutdown();
    await unlink(draft).catch(() => undefined);
    throw new Error(`${path} cannot be served: ${describeError(error)}`, { cause: error });
  }
}

async function drain(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    server.forceShutdown();
    resolve();
  }, drainMs);
  server.tryShutdown(() => resolve());
  await promise;
  clearTimeout(timer);
}

function createRunner(maxCalls: number, closing: AbortSignal, log: Logger): Runner {
  let calls = 0;

  async function runLimited<T>(
    call: UnaryCall | StreamingCall,
    run: (served: Served) => Promise<T>,
  ): Promise<T> {
    if (calls >= maxCalls) {
      throw new GrpcError(grpcCodes.RESOURCE_EXHAUSTED, `${maxCalls} calls are under way; try again later`);
    }
    calls += 1;
    const gone = new AbortController();
    const abort = () => gone.abort();
    call.once('cancelled', abort);
    closing.addEventListener('abort', abort, { once: true });
    try {
      return await run({ signal: gone.signal });
    } finally {
      calls -= 1;
      closing.removeEventListener('abort', abort);
      gone.abort();
    }
  }

  return {
    unary: (call, answer) => runLimited(call, answer),
    streaming: (call, answer) =>
      runLimited(call, async (served) => {
        for await (const message of answer(served)) {
          if (served.signal.aborted) return;
          if (!call.write(message)) await waitForDrain(call, served.signal);
        }
      }),
    fail(error) {
      if (error instanceof GrpcError) return { code: error.code, details: error.message };
      log.error({ error: describeError(error) }, 'a call could not be answered');
      return { code: grpcCodes.INTERNAL, details: 'internal error; see the log' };
    },
  };
}

async function waitForDrain(call: StreamingCall, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      call.removeListener('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    call.once('drain', go);
    signal.addEventListener('abort', go, { once: true });
  });
}
