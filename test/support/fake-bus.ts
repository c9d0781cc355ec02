import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { BusDraft, BusMessage, BusValue } from '../../src/agent/shutdown/bus/index.ts';
import { encodeMessage, MessageParser } from '../../src/agent/shutdown/bus/index.ts';
import { BusWriter } from '../../src/agent/shutdown/bus/wire.ts';
import { temporaryFolder } from './temporary-folder.ts';

const bus = 'org.freedesktop.DBus';
const login = 'org.freedesktop.login1';
const manager = { path: '/org/freedesktop/login1', interfaceName: 'org.freedesktop.login1.Manager' };

/** What logind would say; a test changes it. */
export interface FakeLogind {
  isThere: boolean;
  isShuttingDown: boolean;
  maxDelaySeconds: number;
  /** Its unique name: another one after a restart. */
  owner: string;
  /** Called for a reload; what it returns is how long logind waits then. */
  reload(): number;
}

/** The system's bus with a logind on it, on a socket of its own. */
export interface FakeBus extends AsyncDisposable {
  readonly path: string;
  readonly logind: FakeLogind;
  /** The rules of the signals that were asked for. */
  readonly rules: readonly string[];
  readonly connections: number;
  announce(isShuttingDown: boolean, sender?: string): void;
  /** logind ends (empty), or is there under another name. */
  setOwner(owner: string): void;
  /** Ends all connections, as a restart of the bus does. */
  cut(): void;
  send(bytes: Uint8Array): void;
}

type Answer = Omit<BusDraft, 'kind'> & { readonly kind?: BusDraft['kind']; readonly raw?: Buffer };

/** `greeting`: what it answers to who wants in. */
export async function fakeBus(greeting = 'OK 0123456789abcdef'): Promise<FakeBus> {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await temporaryFolder('bus-'));
  const path = join(folder.path, 'socket');
  const sockets = new Set<Socket>();
  const rules: string[] = [];
  const logind: FakeLogind = {
    ...{ isThere: true, isShuttingDown: false, maxDelaySeconds: 5, owner: ':1.7' },
    reload: () => logind.maxDelaySeconds,
  };
  let serial = 0;
  const send = (bytes: Uint8Array) => {
    for (const socket of sockets) socket.write(bytes);
  };
  const signal = (draft: Omit<BusDraft, 'kind'>) => {
    serial += 1;
    send(encodeMessage({ kind: 'signal', ...draft }, serial));
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    const parser = new MessageParser();
    let isIn = false;
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (isIn || text.startsWith('BEGIN')) {
        const rest = isIn ? chunk : chunk.subarray('BEGIN\r\n'.length);
        isIn = true;
        for (const message of parser.push(rest)) {
          serial += 1;
          const answer = answerTo(message, logind, rules);
          if (answer !== undefined) socket.write(encodeAnswer(answer, message, serial));
        }
      } else socket.write(`${greeting}\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  setup.defer(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const resources = setup.move();
  return {
    ...{ path, logind, rules, send },
    get connections() {
      return sockets.size;
    },
    announce(isShuttingDown, sender = logind.owner) {
      logind.isShuttingDown = isShuttingDown;
      signal({ ...manager, member: 'PrepareForShutdown', sender, signature: 'b', body: [isShuttingDown] });
    },
    setOwner(owner) {
      const body = [login, logind.owner, owner];
      Object.assign(logind, { owner, isThere: owner !== '' });
      signal({
        path: '/',
        interfaceName: bus,
        member: 'NameOwnerChanged',
        sender: bus,
        signature: 'sss',
        body,
      });
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const missing: Answer = {
  kind: 'error',
  errorName: `${bus}.Error.ServiceUnknown`,
  signature: 's',
  body: ['no such name'],
};

/** Undefined: none. */
function answerTo(
  { destination, member, body }: BusMessage,
  logind: FakeLogind,
  rules: string[],
): Answer | undefined {
  const [first = '', second = ''] = body;
  if (member === 'Hello') return { signature: 's', body: [':1.1'] };
  if (member === 'AddMatch') {
    rules.push(String(first));
    return {};
  }
  if (member === 'KillUnit') {
    logind.maxDelaySeconds = logind.reload();
    return {};
  }
  if (!logind.isThere) return missing;
  if (member === 'GetNameOwner') return { signature: 's', body: [logind.owner] };
  if (destination !== login || member !== 'Get') return undefined;
  const value = second === 'PreparingForShutdown' ? logind.isShuttingDown : logind.maxDelaySeconds;
  return { signature: 'v', raw: variantOf(value) };
}

/** A truth value, or seconds as the 64 bit microseconds of logind. */
function variantOf(value: BusValue): Buffer {
  if (typeof value === 'boolean') return new BusWriter().signature('b').value('b', value).bytes();
  const micros = Buffer.alloc(8);
  micros.writeBigUInt64LE(BigInt(Number(value) * 1_000_000));
  return new BusWriter().signature('t').align(8).raw(micros).bytes();
}

function encodeAnswer({ raw, ...answer }: Answer, to: BusMessage, serial: number): Buffer {
  const draft = { kind: 'return' as const, replySerial: to.serial, sender: ':1.0', ...answer };
  if (raw === undefined) return encodeMessage(draft, serial);
  const { signature = '', ...rest } = draft;
  // with an empty text in place of what the product does not write; its five bytes are replaced
  const encoded = encodeMessage({ ...rest, signature: 's', body: [''] }, serial);
  const head = Buffer.from(encoded.subarray(0, encoded.length - 5));
  head.writeUInt32LE(raw.length, 4);
  const at = head.lastIndexOf(Buffer.from([1, 's'.charCodeAt(0), 0]));
  head.write(signature, at + 1, 'latin1');
  return Buffer.concat([head, raw]);
}
