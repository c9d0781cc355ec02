import assert from 'node:assert/strict';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import type { ConnectionOptions } from 'node:tls';
import { waitFor } from '../../../support/index.ts';

/** A stream of HTTP/2 as a test looks at it. */
export class Http2Stream {
  readonly raw: ClientHttp2Stream;
  readonly #headers = Promise.withResolvers<IncomingHttpHeaders & { ':status'?: number }>();
  #bytes = 0;
  #chunks: Buffer[] = [];
  ended = false;
  closed = false;

  constructor(raw: ClientHttp2Stream) {
    this.raw = raw;
    this.#headers.promise.catch(() => undefined); // only some tests look
    raw.once('response', this.#headers.resolve);
    raw.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      this.#chunks.push(chunk);
    });
    raw.once('end', () => {
      this.ended = true;
    });
    raw.on('error', () => undefined);
    raw.once('close', () => {
      this.closed = true;
      this.#headers.reject(new Error(`the stream was closed with ${raw.rstCode}`));
    });
  }

  get headers() {
    return this.#headers.promise;
  }

  get length(): number {
    return this.#bytes;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.bytes.toString('utf8');
  }

  /** The events so far of a watch in JSON. */
  get events() {
    return this.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  async untilEvents(count: number) {
    return await waitFor(`${count} events`, () => (this.events.length >= count ? this.events : undefined));
  }

  async untilClosed(): Promise<this> {
    await waitFor('the end of the stream', () => this.closed);
    return this;
  }
}

/** One connection that speaks HTTP/2. */
export class Http2Client implements Disposable {
  readonly session: ClientHttp2Session;
  /** The code of the GOAWAY that came. */
  goaway: number | undefined;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on('goaway', (code) => {
      this.goaway = code;
    });
    session.on('error', () => undefined);
  }

  static async open({ port, ...options }: ConnectionOptions): Promise<Http2Client> {
    const session = connect(`https://127.0.0.1:${port}`, options);
    const client = new Http2Client(session);
    await new Promise<void>((resolve, reject) => {
      session.once('remoteSettings', () => resolve());
      session.once('close', () => reject(new Error('the connection was closed')));
      session.once('error', reject);
    });
    return client;
  }

  /** A request without a body. */
  open(path: string, headers: Record<string, string> = {}): Http2Stream {
    return new Http2Stream(this.session.request({ ':path': path, ...headers }));
  }

  /** A request with its body, if any, and the whole answer. */
  async send(method: string, path: string, body?: string | Buffer, headers: Record<string, string> = {}) {
    const raw = this.session.request({ ':method': method, ':path': path, ...headers }, { endStream: false });
    const stream = new Http2Stream(raw);
    raw.end(body);
    const { ':status': code = 0, ...answered } = await stream.headers;
    await stream.untilClosed();
    return { code, headers: answered, text: stream.text };
  }

  /** A watch that the server accepted. */
  async watch(path: string, headers: Record<string, string> = {}): Promise<Http2Stream> {
    const stream = this.open(`${path}${path.includes('?') ? '&' : '?'}watch=1`, headers);
    assert.equal((await stream.headers)[':status'], 200, path);
    return stream;
  }

  [Symbol.dispose](): void {
    this.session.destroy();
  }
}
