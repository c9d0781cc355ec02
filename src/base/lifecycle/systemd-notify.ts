import { execFile } from 'node:child_process';
import { write } from 'node:fs';
import { promisify } from 'node:util';
import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { Mutex } from '../mutex.ts';

/*
 * To notify systemd (sd_notify(3)) takes a datagram socket, which Node does not have.
 * 1. systemd 253 and later open it for us: `OpenFile=/run/systemd/notify:notify` in the unit hands over a
 *    connected descriptor, named in LISTEN_FDNAMES (sd_listen_fds(3): the first descriptor is 3).
 * 2. For older ones the systemd-notify program is run, one message after another, with its default barrier:
 *    it returns once systemd has taken the message.
 */

/** Sends notifications to the service manager. Never fails: a failure is logged once. */
export interface Notifier {
  /** Whether there is a service manager to notify. */
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
  const descriptor = findDescriptor(env, pid);
  const deliver = descriptor === undefined ? sendByProgram : senderByDescriptor(descriptor);
  const mutex = new Mutex();
  let isLogged = false;
  return {
    enabled: true,
    send(...assignments) {
      return mutex.run(async () => {
        try {
          await deliver(assignments.map((text) => text.replaceAll('\n', ' ')));
        } catch (error) {
          if (!isLogged) log.warn(`cannot talk to systemd: ${describeError(error)}`);
          isLogged = true;
        }
      });
    },
  };
}

function findDescriptor(env: NotifyEnvironment, pid: number): number | undefined {
  if (env.LISTEN_PID !== String(pid)) return undefined; // they were meant for the process that this one inherited them from
  const index = (env.LISTEN_FDNAMES ?? '').split(':').indexOf('notify');
  return index < 0 ? undefined : firstDescriptor + index;
}

function senderByDescriptor(descriptor: number): (assignments: readonly string[]) => Promise<void> {
  // not writeSync: all services share the socket, and while systemd is busy and its queue full a write blocks
  return async (assignments) => void (await writeText(descriptor, assignments.join('\n')));
}

async function sendByProgram(assignments: readonly string[]): Promise<void> {
  await run('systemd-notify', [...assignments], { timeout: 5000 });
}

/**
 * How often to send WATCHDOG=1, in milliseconds: a third of what the unit's WatchdogSec allows, or undefined
 * when the watchdog is off or meant for another process (sd_watchdog_enabled(3)).
 */
export function watchdogIntervalMs(env: NotifyEnvironment, pid: number): number | undefined {
  if (env.WATCHDOG_PID !== undefined && env.WATCHDOG_PID !== String(pid)) return undefined;
  const limitUs = Number(env.WATCHDOG_USEC);
  return Number.isFinite(limitUs) && limitUs > 0 ? Math.max(limitUs / 3000, 50) : undefined;
}
