import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { serveUnix } from '../../../base/grpc/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, describeError, makeFolders } from '../../../base/index.ts';
import type { DeviceManager } from './manager.ts';
import { cleanPluginFolder } from './plugin-folder.ts';
import { registrationService } from './registration.ts';

export interface RegistrationServerOptions {
  readonly manager: Pick<DeviceManager, 'register' | 'check'>;
  /** Absolute path of the agent's socket; plugins put theirs beside it. */
  readonly socket: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told why plugins cannot register, and with undefined that they can again. */
  readonly onProblem?: (problem: string | undefined) => void;
  /** Between two looks whether the socket is still there; default 5 s. */
  readonly lookMs?: number;
}

/** A registration asks for little, so that many at once are no harm. */
const maxBytes = 64 * 1024;
/** Each may wait for a plugin that hangs, for 10 s. */
const mostCalls = 256;

/**
 * Serves registrations until the signal aborts. Where the socket cannot be made (a full disk, say) that is told, and tried
 * again; where it was removed or replaced it is made anew, and the plugins see that they have to register again. `ready`
 * is called after the first try.
 */
export function registrationServer(options: RegistrationServerOptions): Service['run'] {
  const { socket, clock, log, lookMs = 5000 } = options;
  const services = [registrationService(options)];
  return async (signal, ready) => {
    const backoff = createBackoff({ initialMs: 500, maxMs: 15_000 });
    let clean = false;
    const tell = createTeller(options);
    while (!signal.aborted) {
      try {
        await makeFolders(dirname(socket));
        if (!clean) await cleanPluginFolder(dirname(socket), log);
        clean = true;
        const serve = { path: socket, services, maxMessageBytes: maxBytes, maxCalls: mostCalls, log };
        await using _server = await serveUnix(serve);
        const identity = await identityOf(socket);
        backoff.reset();
        tell(undefined);
        ready();
        await untilGone(identity, signal);
        if (!signal.aborted)
          log.warn({ socket }, 'the socket for device plugins was removed or replaced; made anew');
      } catch (error) {
        tell(`device plugins cannot register: ${describeError(error)}`);
        ready();
        await clock.sleep(backoff.next(), signal);
      }
    }
  };

  async function untilGone(identity: string | undefined, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(lookMs, signal);
      if (signal.aborted || (await identityOf(socket)) !== identity) break;
    }
  }
}

/** The same problem is logged once, however often it is met. */
function createTeller({ log, socket, onProblem }: RegistrationServerOptions) {
  let last: string | undefined;
  return (problem: string | undefined) => {
    if (problem === last) return;
    if (problem === undefined) log.info({ socket }, 'device plugins can register again');
    else log.error({ socket }, problem);
    last = problem;
    onProblem?.(problem);
  };
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
