import { GrpcError, grpcCodes } from '../../../src/base/grpc/index.ts';

/** How a method of an example plugin misbehaves: the first calls hang, the next ones fail, or the process is gone at once. */
export interface Behaviour {
  readonly hang: number;
  readonly fail: number;
  readonly crash: boolean;
}

/** Tells the test what has happened: one line of JSON each. */
export function say(what: string, more: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ ...more, event: what })}\n`);
}

/** To be called at the begin of each call of the method. */
export function createMisbehaviour({ hang, fail, crash }: Behaviour): (signal: AbortSignal) => Promise<void> {
  let calls = 0;
  return async (signal) => {
    calls += 1;
    if (crash) process.kill(process.pid, 'SIGKILL');
    if (calls <= hang)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    else if (calls <= hang + fail) throw new GrpcError(grpcCodes.UNAVAILABLE, 'the storage is not there yet');
  };
}

/** Ends the process in order at SIGTERM; a SIGKILL leaves its sockets behind. */
export async function serveUntilTold(servers: readonly AsyncDisposable[]): Promise<void> {
  say('serving', { pid: process.pid });
  await new Promise((resolve) => process.once('SIGTERM', resolve));
  for (const server of servers.toReversed()) await server[Symbol.asyncDispose]();
  process.exit(0);
}
