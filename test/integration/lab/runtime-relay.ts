import { once } from 'node:events';
import type {
  ClientHttp2Session,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
import { connect, constants, createServer } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/index.ts';

/** The calls of the CRI by which something changes. */
export const changingCalls = [
  'RunPodSandbox',
  'StopPodSandbox',
  'RemovePodSandbox',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'RemoveContainer',
  'ExecSync',
  'PullImage',
] as const;
export type ChangingCall = (typeof changingCalls)[number];

/** `before`: it has been made and the runtime has not heard of it; `after`: it is done and who made it has not heard of that. */
export type CallPoint = 'before' | 'after';

/** Between an agent and its runtime, call by call. When the runtime ends its connection, so does the relay. */
export interface RuntimeRelay extends AsyncDisposable {
  /** For `--container-runtime-endpoint`. */
  readonly endpoint: string;
  /** Told of each call by which something changes; the call waits for what it returns. */
  onCall: (call: ChangingCall, point: CallPoint) => void | Promise<void>;
}

/** Passes on to the runtime's socket. Disposal ends all connections. */
export async function startRuntimeRelay(socket: string): Promise<RuntimeRelay> {
  await using setup = new AsyncDisposableStack();
  const { path: folder } = setup.use(await temporaryFolder('relay-'));
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: 1000 } });
  const path = join(folder, 'relay.sock');
  const state: RuntimeRelay = {
    endpoint: `unix://${path}`,
    onCall: () => undefined,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
  server.on('session', (session) => {
    sessions.add(session);
    const runtime = connectRuntime(socket, session);
    session.on('error', () => session.destroy());
    session.on('close', () => {
      sessions.delete(session);
      runtime.destroy();
    });
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on('error', () => undefined);
      const passing = new PassedCall(stream, runtime, headers, (call, point) => state.onCall(call, point));
      void passing.run().catch(() => session.destroy());
    });
  });
  await once(server.listen(path), 'listening');
  setup.defer(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const session of sessions) session.destroy();
    await closed;
  });
  const resources = setup.move();
  return state;
}

function connectRuntime(socket: string, session: ServerHttp2Session): ClientHttp2Session {
  const runtime = connect('http://localhost', { createConnection: () => connectSocket(socket) });
  runtime.on('error', () => runtime.destroy());
  runtime.on('close', () => session.destroy());
  return runtime;
}

const isChanging = (name: string): name is ChangingCall => changingCalls.some((call) => call === name);

/** One call and its answer. */
class PassedCall {
  readonly #stream: ServerHttp2Stream;
  readonly #runtime: ClientHttp2Session;
  readonly #headers: IncomingHttpHeaders;
  readonly #onCall: RuntimeRelay['onCall'];

  constructor(
    stream: ServerHttp2Stream,
    runtime: ClientHttp2Session,
    headers: IncomingHttpHeaders,
    onCall: RuntimeRelay['onCall'],
  ) {
    this.#stream = stream;
    this.#runtime = runtime;
    this.#headers = headers;
    this.#onCall = onCall;
  }

  async run(): Promise<void> {
    const name = this.#headers[':path']?.split('/').at(-1) ?? '';
    if (isChanging(name)) await this.#change(name);
    else this.#pass();
  }

  #request() {
    const call = this.#runtime.request(this.#headers);
    call.on('error', () => this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    this.#stream.on('close', () => call.close(constants.NGHTTP2_CANCEL));
    this.#stream.pipe(call);
    return call;
  }

  #pass(): void {
    const stream = this.#stream;
    const call = this.#request();
    let trailers: IncomingHttpHeaders = {};
    call.on('trailers', (found) => {
      trailers = found;
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    call.on('response', (headers, flags) => {
      if (stream.destroyed) return;
      const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(headers, isAll ? { endStream: true } : { waitForTrailers: true });
      if (!isAll) call.pipe(stream);
    });
  }

  /** The answer is passed on as a whole. */
  async #change(name: ChangingCall): Promise<void> {
    const stream = this.#stream;
    await this.#onCall(name, 'before');
    if (stream.destroyed) return;
    const call = this.#request();
    const chunks: Buffer[] = [];
    let [headers, trailers]: [IncomingHttpHeaders, IncomingHttpHeaders] = [{}, {}];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('response', (found) => {
      headers = found;
    });
    call.on('trailers', (found) => {
      trailers = found;
    });
    await once(call, 'end');
    await this.#onCall(name, 'after');
    if (stream.destroyed) return;
    const isAll = 'grpc-status' in headers;
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(headers, isAll ? { endStream: true } : { waitForTrailers: true });
    if (!isAll) stream.end(Buffer.concat(chunks));
  }
}
