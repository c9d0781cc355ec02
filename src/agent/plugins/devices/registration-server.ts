import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keepServing } from '../../../base/grpc/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError, makeFolders } from '../../../base/index.ts';
import type { DeviceManager } from './manager.ts';
import { createRegistrationService } from './registration.ts';

export interface RegistrationServerOptions {
  readonly manager: Pick<DeviceManager, 'register' | 'check'>;
  /** Absolute path of the agent's socket; plugins put theirs beside it. */
  readonly socket: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the reason why plugins cannot register, and with undefined when they can again. */
  readonly onProblem?: (problem: string | undefined) => void;
  /** How often it is checked that the socket is still there; default 5 s. */
  readonly lookMs?: number;
}

/** Registrations are small, so that many at once take little memory. */
const maxMessageBytes = 64 * 1024;
/** The limit of calls at a time; each may wait up to 10 s for a plugin that hangs. */
const maxCalls = 256;

/**
 * Serves registrations until the signal aborts. When the socket cannot be created (a full disk, say) that is reported, and
 * tried again; when it was removed or replaced it is created again, by which plugins notice that they have to register
 * again. `ready` is called after the first try.
 */
export function registrationServer(options: RegistrationServerOptions): Service['run'] {
  const { socket, clock, log, lookMs } = options;
  const services = [createRegistrationService(options)];
  return async (signal, ready) => {
    const report = createReporter(options);
    let isClean = false;
    const run = keepServing({
      path: socket,
      services: () => services,
      maxMessageBytes,
      maxCalls,
      clock,
      log,
      ...(lookMs === undefined ? {} : { lookMs }),
      async prepare() {
        await makeFolders(dirname(socket));
        if (!isClean) await cleanPluginFolder(dirname(socket), log);
        isClean = true;
      },
      onServing: () => report(undefined),
      onReplaced: () =>
        log.warn({ socket }, 'the socket for device plugins was removed or replaced; created again'),
      onFailure: (error) => report(`device plugins cannot register: ${describeError(error)}`),
    });
    await run(signal, ready);
  };
}

/** Logs a problem once for as long as it lasts. */
function createReporter({ log, socket, onProblem }: RegistrationServerOptions) {
  let last: string | undefined;
  return (problem: string | undefined) => {
    if (problem === last) return;
    if (problem === undefined) log.info({ socket }, 'device plugins can register again');
    else log.error({ socket }, problem);
    last = problem;
    onProblem?.(problem);
  };
}

/**
 * Removes all sockets in the folder, and links to sockets: they belong to plugins that were registered with an earlier agent,
 * and plugins notice by their absence, together with the agent's new socket, that they have to register again. Nothing else
 * is touched. A socket that cannot be removed is logged; rejects when the folder cannot be read.
 */
async function cleanPluginFolder(folder: string, log: Logger): Promise<void> {
  const removed: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isSocket() !== true) continue;
    try {
      await rm(path);
      removed.push(name);
    } catch (error) {
      log.warn(`the socket of an earlier device plugin stays: ${describeError(error)}`);
    }
  }
  if (removed.length > 0)
    log.info({ folder, removed: removed.length }, 'sockets of earlier device plugins removed');
}
