import { dirname } from 'node:path';
import { keepServing } from '../../../base/grpc/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError, makeFolders } from '../../../base/index.ts';
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
const maxMessageBytes = 64 * 1024;
/** Each may wait for a plugin that hangs, for 10 s. */
const maxCalls = 256;

/**
 * Serves registrations until the signal aborts. Where the socket cannot be made (a full disk, say) that is told, and tried
 * again; where it was removed or replaced it is made anew, and the plugins see that they have to register again. `ready`
 * is called after the first try.
 */
export function registrationServer(options: RegistrationServerOptions): Service['run'] {
  const { socket, clock, log, lookMs } = options;
  const services = [registrationService(options)];
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
        log.warn({ socket }, 'the socket for device plugins was removed or replaced; made anew'),
      onFailure: (error) => report(`device plugins cannot register: ${describeError(error)}`),
    });
    await run(signal, ready);
  };
}

/** The same problem is logged once, however often it is met. */
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
