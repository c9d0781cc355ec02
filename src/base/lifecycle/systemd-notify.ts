import { execFile } from 'node:child_process';
import { write } from 'node:fs';
import { promisify } from 'node:util';
import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { Mutex } from '../mutex.ts';

/*
 * Telling systemd how we are (sd_notify(3)) needs a datagram socket, which Node does not have.
 * 1. systemd 253 and later open it for us: `OpenFile=/run/systemd/notify:notify` in the unit hands over a
 *    connected descriptor, named in LISTEN_FDNAMES (sd_listen_fds(3): the first descriptor is 3).
 * 2. For older ones the systemd-notify program is run, one message after another, with its default barrier:
 *    it returns once systemd has taken the message.
 */

/** Says things to the service manager. Never fails: what cannot be said is logged once. */
export interface Notifier {
  /** True when a service manager listens. */
  readonly enabled: boolean;
  /** `READY=1`, `STOPPING=1`, `STATUS=…`, `WATCHDOG=1`; several make one message. Resolves when it is delivered. */
  send(...assignments: readonly string[]): Promise<void>;
}

export interface NotifyEnvironment {
  NOTIFY_SOCKET?: string | undefined;
  LISTEN_FDNAMES?: string | undefined;
  LISTEN_PID?: string | undefined;
  WATCHDOG_USEC?: string | undefined;
  WATCHDOG_PID?: string | undefined;
}

const firstDescriptor = 3;
const run = promisify(execFile);
const writeText = promisify<number, string>(write);

export function createNotifier(env: NotifyEnvironment, pid: number, log: Logger): Notifier {
  if (!env.NOTIFY_SOCKET) return { enabled: false, send: async () => undefined };
  const descriptor = handedDescriptor(env, pid);
  const deliver = descriptor === undefined ? byProgram : byDescriptor(descriptor);
  const mutex = new Mutex();
  let complained = false;
  return {
    enabled: true,
    send(...assignments) {
      return mutex.run(async () => {
        try {
          await deliver(assignments.map((text) => text.replaceAll('\n', ' ')));
        } catch (error) {
          if (!complained) log.warn(`cannot talk to systemd: ${describeError(error)}`);
          complained = true;
        }
      });
    },
  };
}

function handedDescriptor(env: NotifyEnvironment, pid: number): number | undefined {
  if (env.LISTEN_PID !== String(pid)) return undefined; // inherited from a process that they were meant for
  const index = (env.LISTEN_FDNAMES ?? '').split(':').indexOf('notify');
  return index < 0 ? undefined : firstDescriptor + index;
}

function byDescriptor(descriptor: number): (assignments: readonly string[]) => Promise<void> {
  // not writeSync: the socket is everybody's, and where systemd is busy and its queue full, writing waits
  return async (assignments) => void (await writeText(descriptor, assignments.join('\n')));
}

async function byProgram(assignments: readonly string[]): Promise<void> {
  await run('systemd-notify', [...assignments], { timeout: 5000 });
}

/**
 * How often to say WATCHDOG=1, in milliseconds: a third of what the unit's WatchdogSec allows, or undefined
 * when the watchdog is off or meant for another process (sd_watchdog_enabled(3)).
 */
export function watchdogIntervalMs(env: NotifyEnvironment, pid: number): number | undefined {
  if (env.WATCHDOG_PID !== undefined && env.WATCHDOG_PID !== String(pid)) return undefined;
  const limitUs = Number(env.WATCHDOG_USEC);
  return Number.isFinite(limitUs) && limitUs > 0 ? Math.max(limitUs / 3000, 50) : undefined;
}
