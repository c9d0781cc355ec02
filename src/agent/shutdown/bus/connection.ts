import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Clock } from '../../../base/index.ts';
import { withDeadline } from '../../../base/index.ts';
import type { BusDraft, BusMessage } from './message.ts';
import { encodeMessage, MessageParser } from './message.ts';
import type { BusValue } from './wire.ts';

/** The other side answered that it cannot do what it was asked for. */
export class BusError extends Error {
  override readonly name = 'BusError';
  /** As D-Bus names it: `org.freedesktop.DBus.Error.ServiceUnknown`. */
  readonly errorName: string;

  constructor(errorName: string, message: string) {
    super(message === '' ? errorName : `${message} (${errorName})`);
    this.errorName = errorName;
  }
}

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interfaceName: string;
  readonly member: string;
  /** Of the arguments; default none. */
  readonly signature?: string;
  readonly body?: readonly BusValue[];
}

export interface BusOptions {
  readonly path: string;
  /** Of this process. */
  readonly user: number;
  readonly clock: Clock;
  onSignal(message: BusMessage): void;
}

/** The bus itself. */
export const bus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interfaceName: 'org.freedesktop.DBus',
} as const;

const answerTimeoutMs = 10_000;
/** Nobody waits for more answers at a time. */
const maxPending = 64;

type Pending = PromiseWithResolvers<readonly BusValue[]>;

/**
 * A connection to the system's bus: calls, and signals that were asked for (`AddMatch`). It passes no file descriptors, which Node
 * cannot receive. Disposal closes it.
 */
export class BusConnection implements Disposable {
  readonly #socket: Socket;
  readonly #options: BusOptions;
  readonly #parser = new MessageParser();
  readonly #pending = new Map<number, Pending>();
  readonly #closed = Promise.withResolvers<Error>();
  /** Lines of the other side, until both speak in messages. */
  #lines: PromiseWithResolvers<string> | undefined;
  #line = '';
  #serial = 0;
  #error: Error | undefined;

  private constructor(options: BusOptions) {
    this.#options = options;
    this.#socket = connect({ path: options.path });
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => this.#end(new Error('the connection to D-Bus has ended')));
    this.#socket.on('data', (chunk) => this.#read(chunk));
  }

  /** Rejects when there is no bus, or it lets nobody in. */
  static async open(options: BusOptions, signal: AbortSignal): Promise<BusConnection> {
    const connection = new BusConnection(options);
    const cause = 'D-Bus, asked for a connection,';
    try {
      await withDeadline({ clock: options.clock, timeoutMs: answerTimeoutMs, signal }, cause, () =>
        Promise.race([connection.#begin(), connection.closed.then((error) => Promise.reject(error))]),
      );
      return connection;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
  }

  /** Resolves with why it has ended. */
  get closed(): Promise<Error> {
    return this.#closed.promise;
  }

  async call(call: BusCall, signal: AbortSignal): Promise<readonly BusValue[]> {
    if (this.#error !== undefined) throw this.#error;
    if (this.#pending.size >= maxPending) throw new Error('D-Bus answers too slowly');
    const { clock } = this.#options;
    const serial = this.#send({ kind: 'call', ...call });
    const pending = Promise.withResolvers<readonly BusValue[]>();
    this.#pending.set(serial, pending);
    pending.promise.catch(() => undefined); // nobody may wait for it any more
    const what = `${call.destination}, asked for ${call.member},`;
    try {
      return await withDeadline({ clock, timeoutMs: answerTimeoutMs, signal }, what, () => pending.promise);
    } finally {
      this.#pending.delete(serial);
    }
  }

  [Symbol.dispose](): void {
    this.#end(new Error('the connection to D-Bus was closed'));
  }

  /** As the specification has it: a NUL, who this is, and from BEGIN on messages. */
  async #begin(): Promise<void> {
    this.#lines = Promise.withResolvers<string>();
    const user = Buffer.from(String(this.#options.user)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
    const answer = await this.#lines.promise;
    if (!answer.startsWith('OK ')) throw new Error(`D-Bus lets nobody in: ${answer}`);
    this.#lines = undefined;
    this.#socket.write('BEGIN\r\n');
    await this.call({ ...bus, member: 'Hello' }, AbortSignal.timeout(answerTimeoutMs));
  }

  #send(draft: BusDraft): number {
    this.#serial = (this.#serial % 0xffff_ffff) + 1;
    this.#socket.write(encodeMessage(draft, this.#serial));
    return this.#serial;
  }

  #read(chunk: Buffer): void {
    try {
      if (this.#lines !== undefined) this.#readLine(chunk, this.#lines);
      else for (const message of this.#parser.push(chunk)) this.#take(message);
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The other side sends one line and waits. */
  #readLine(chunk: Buffer, lines: PromiseWithResolvers<string>): void {
    this.#line += chunk.toString('latin1');
    if (this.#line.length > maxLineLength) throw new Error('what was received is no answer of D-Bus');
    if (this.#line.endsWith('\r\n')) lines.resolve(this.#line.trim());
  }

  #take(message: BusMessage): void {
    if (message.kind === 'signal') this.#options.onSignal(message);
    const pending = this.#pending.get(message.replySerial);
    if (message.kind === 'return') pending?.resolve(message.body);
    if (message.kind !== 'error') return;
    const [text = ''] = message.body;
    pending?.reject(new BusError(message.errorName, typeof text === 'string' ? text.slice(0, 500) : ''));
  }

  #end(error: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
    this.#closed.resolve(error);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

const maxLineLength = 1024;

const defaultPath = '/run/dbus/system_bus_socket';

/** Where the system's bus is; an address of another form than a path is not used. */
export function findBusPath(env: Readonly<Record<string, string | undefined>>): string {
  const [, path] = /^unix:path=([^,;]+)/.exec(env['DBUS_SYSTEM_BUS_ADDRESS'] ?? '') ?? [];
  return path ?? defaultPath;
}
