import type { Clock } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import type { BusMessage } from './bus/index.ts';
import { arrayOf, BusConnection, BusError, bus } from './bus/index.ts';

/** What logind says of the machine, and of its end. */
export interface LogindState {
  /** Whether it has announced a shutdown and waits for those who delay it. */
  readonly isShuttingDown: boolean;
  /** How long it waits for them at most (InhibitDelayMaxSec). */
  readonly maxDelayMs: number;
}

/** Who delays a shutdown, as `systemd-inhibit --list` shows it. */
export interface Delay {
  readonly who: string;
  readonly pid: number;
}

/** logind as it can be asked while it is there. */
export interface Logind {
  read(): Promise<LogindState>;
  /** Has it read its configuration again. Resolves when it was asked to, not when it has done it. */
  reload(): Promise<void>;
  /** Those who delay a shutdown now. */
  delays(): Promise<readonly Delay[]>;
}

export interface LogindListener {
  /** It is there, or there again; what is true of it then. */
  found(logind: Logind, state: LogindState): void;
  /** It has announced a shutdown, or that there will be none after all. */
  prepares(isShuttingDown: boolean): void;
  /** It cannot be asked, for the reason. */
  lost(reason: string): void;
}

export interface LogindOptions {
  /** The socket of the system's bus. */
  readonly busPath: string;
  readonly user: number;
  readonly clock: Clock;
  /** In [0, 1); default Math.random. */
  readonly random?: () => number;
}

const busName = 'org.freedesktop.login1';
const manager = { path: '/org/freedesktop/login1', interfaceName: 'org.freedesktop.login1.Manager' } as const;
const systemd = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interfaceName: 'org.freedesktop.systemd1.Manager',
} as const;
const hangUp = 1;
const maxRetryMs = 60_000;

/**
 * Follows logind over D-Bus until `signal` aborts: tells `listener` when it is found, lost and when it announces a shutdown.
 * Where the bus ends or was never there it tries again, after a minute at most. It never rejects.
 */
export async function followLogind(
  options: LogindOptions,
  listener: LogindListener,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random } = options;
  const backoff = createBackoff({
    ...{ initialMs: 500, maxMs: maxRetryMs, jitter: 0.2 },
    ...(random === undefined ? {} : { random }),
  });
  while (!signal.aborted) {
    try {
      await follow(options, listener, backoff.reset, signal);
    } catch (error) {
      if (signal.aborted) return;
      listener.lost(describeError(error));
    }
    await clock.sleep(backoff.next(), signal);
  }
}

/** Rejects when the connection has ended. */
async function follow(
  options: LogindOptions,
  listener: LogindListener,
  onConnected: () => void,
  signal: AbortSignal,
): Promise<void> {
  const follower = new Follower(listener, signal);
  const onSignal = (message: BusMessage) => follower.take(message);
  using connection = await BusConnection.open({ ...options, path: options.busPath, onSignal }, signal);
  const ended = Promise.withResolvers<never>();
  const onAbort = () => ended.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  void connection.closed.then(ended.reject);
  ended.promise.catch(() => undefined); // until it is waited for
  try {
    await follower.subscribe(connection);
    onConnected();
    await ended.promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Calls that end with `signal`. */
export function logindOn(connection: BusConnection, signal: AbortSignal): Logind {
  const get = async (name: string) => {
    const call = {
      destination: busName,
      path: manager.path,
      interfaceName: 'org.freedesktop.DBus.Properties',
    };
    const body = [manager.interfaceName, name];
    const [value] = await connection.call({ ...call, member: 'Get', signature: 'ss', body }, signal);
    return value;
  };
  return {
    async read() {
      const [isShuttingDown, maxDelayUs] = [
        await get('PreparingForShutdown'),
        await get('InhibitDelayMaxUSec'),
      ];
      if (typeof isShuttingDown !== 'boolean' || typeof maxDelayUs !== 'bigint')
        throw new Error(
          'logind does not say whether the machine shuts down, and how long that may be delayed',
        );
      return { isShuttingDown, maxDelayMs: Number(maxDelayUs / 1000n) };
    },
    async reload() {
      const body = ['systemd-logind.service', 'main', hangUp];
      await connection.call({ ...systemd, member: 'KillUnit', signature: 'ssi', body }, signal);
    },
    async delays() {
      const call = { destination: busName, ...manager, member: 'ListInhibitors' };
      const [list] = await connection.call(call, signal);
      return arrayOf(list)
        .map(arrayOf)
        .flatMap(([what, who, , mode, , pid]) => {
          const isOfShutdown = String(what).split(':').includes('shutdown') && mode === 'delay';
          return isOfShutdown ? [{ who: String(who), pid: Number(pid) }] : [];
        });
    },
  };
}

/** One connection's view of logind: who has its name, so that only its own signals count. */
class Follower {
  readonly #listener: LogindListener;
  readonly #signal: AbortSignal;
  #connection: BusConnection | undefined;
  #owner = '';
  #isFinding = false;

  constructor(listener: LogindListener, signal: AbortSignal) {
    this.#listener = listener;
    this.#signal = signal;
  }

  async subscribe(connection: BusConnection): Promise<void> {
    this.#connection = connection;
    const match = async (...rule: readonly string[]) => {
      const body = [["type='signal'", ...rule].join(',')];
      await connection.call({ ...bus, member: 'AddMatch', signature: 's', body }, this.#signal);
    };
    await match(`sender='${bus.destination}'`, "member='NameOwnerChanged'", `arg0='${busName}'`);
    await match(`sender='${busName}'`, `path='${manager.path}'`, "member='PrepareForShutdown'");
    await this.#find();
  }

  /** Any process on the machine may send a signal to any other: who sent it decides. */
  take({ sender, interfaceName, member, body: [first, , third] }: BusMessage): void {
    const isOfBus = sender === bus.destination && member === 'NameOwnerChanged' && first === busName;
    if (isOfBus) this.#changeOwner(typeof third === 'string' ? third : '');
    const isOurs = this.#owner !== '' && sender === this.#owner && interfaceName === manager.interfaceName;
    if (isOurs && member === 'PrepareForShutdown' && typeof first === 'boolean')
      this.#listener.prepares(first);
  }

  #changeOwner(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    if (owner === '') this.#listener.lost('logind has ended');
    else if (!this.#isFinding)
      this.#find().catch((error: unknown) => {
        if (!this.#signal.aborted) this.#listener.lost(describeError(error));
        this.#connection?.[Symbol.dispose](); // it is tried again over a new one
      });
  }

  /** The first call starts logind, where it is only not running yet. What it announces from the second on is heard. */
  async #find(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#isFinding = true;
    try {
      const logind = logindOn(connection, this.#signal);
      await logind.read();
      const call = { ...bus, member: 'GetNameOwner', signature: 's', body: [busName] };
      const [owner] = await connection.call(call, this.#signal);
      this.#owner = typeof owner === 'string' ? owner : '';
      this.#listener.found(logind, await logind.read());
    } catch (error) {
      if (!(error instanceof BusError) || !missingNames.has(error.errorName)) throw error;
      this.#listener.lost('there is no logind on this machine');
    } finally {
      this.#isFinding = false;
    }
  }
}

const missingNames: ReadonlySet<string> = new Set([
  'org.freedesktop.DBus.Error.ServiceUnknown',
  'org.freedesktop.DBus.Error.NameHasNoOwner',
]);
