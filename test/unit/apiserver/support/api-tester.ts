import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Status } from '../../../../src/api/index.ts';
import { isRecord, statusReasons } from '../../../../src/api/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import type { Shown } from './objects.ts';
import { RawConnection } from './raw-connection.ts';
import { WatchTester } from './watch-tester.ts';

export interface Endpoint {
  port: number;
  /** PEM. */
  ca: string;
  pair: Pair | undefined;
}

export interface Send {
  /** An object is sent as JSON, text and bytes as they are. */
  body?: object | string | Buffer;
  headers?: Record<string, string | string[]>;
}

export interface Reply {
  code: number;
  headers: IncomingHttpHeaders;
  /** Every header as it came, name and value in turns. */
  rawHeaders: string[];
  /** As UTF-8. */
  text: string;
  /** As they came, not unpacked. */
  bytes: Buffer;
}

/** Only what hangs takes so long, also on a machine that does much else. */
const limitMs = 45_000;

/** Speaks to a server with one identity, on connections that are kept alive. */
export class ApiTester {
  readonly #endpoint: Endpoint;
  readonly #agent: Agent;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#agent = new Agent({ ...tlsOptions(endpoint), keepAlive: true, maxSockets: 64 });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** One request and its whole answer, whatever it is. */
  async request(method: string, path: string, send: Send = {}): Promise<Reply> {
    const message = await this.#open(method, path, send);
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(Buffer.from(chunk));
    const { statusCode: code = 0, headers, rawHeaders } = message;
    const bytes = Buffer.concat(chunks);
    return { code, headers, rawHeaders, text: bytes.toString('utf8'), bytes };
  }

  /** A request that must succeed; the object that was answered. */
  async must(method: string, path: string, body?: object): Promise<Shown> {
    const reply = await this.request(method, path, body === undefined ? {} : { body });
    assert.ok(reply.code < 300, `${method} ${path}: ${reply.code} ${reply.text}`);
    return objectIn(reply);
  }

  /** A request that must be refused with a Status of this reason. */
  async refused(
    reason: keyof typeof statusReasons,
    method: string,
    path: string,
    send: Send = {},
  ): Promise<Status & { reply: Reply }> {
    const reply = await this.request(method, path, send);
    const status = statusIn(reply);
    assert.equal(status.reason, reason, `${method} ${path}: ${reply.text}`);
    assert.equal(reply.code, statusReasons[reason]);
    return { ...status, reply };
  }

  async list(path: string): Promise<Shown[]> {
    const reply = await this.request('GET', path);
    assert.equal(reply.code, 200, reply.text);
    const { items } = JSON.parse(reply.text);
    return items;
  }

  /** A watch that the server accepted. */
  async watch(path: string, headers: Record<string, string> = {}): Promise<WatchTester> {
    const separator = path.includes('?') ? '&' : '?';
    const message = await this.#open('GET', `${path}${separator}watch=true`, { headers });
    assert.equal(message.statusCode, 200, `watch ${path}`);
    return new WatchTester(message);
  }

  /** What a TLS connection of this identity is made with. */
  get tlsOptions() {
    return { ...tlsOptions(this.#endpoint), port: this.#endpoint.port };
  }

  /** A connection on which a test writes its own bytes. */
  async raw(): Promise<RawConnection> {
    return await RawConnection.open(this.tlsOptions);
  }

  async #open(method: string, path: string, { body, headers = {} }: Send): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
    const bytes = body === undefined || isBytes ? body : JSON.stringify(body);
    const request = httpsRequest(
      {
        agent: this.#agent,
        host: '127.0.0.1',
        port: this.#endpoint.port,
        method,
        path,
        headers: {
          ...(bytes === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
          ...headers,
        },
        signal: AbortSignal.timeout(limitMs),
      },
      resolve,
    );
    request.on('error', reject);
    request.end(bytes);
    return await promise;
  }
}

function tlsOptions({ ca, pair }: Endpoint) {
  return { host: '127.0.0.1', ca, ...(pair === undefined ? {} : { cert: pair.cert, key: pair.key }) };
}

/** The object in an answer. */
export function objectIn(reply: Reply): Shown {
  const value: unknown = JSON.parse(reply.text);
  assert.ok(isRecord(value), reply.text);
  return { ...value, metadata: isRecord(value['metadata']) ? value['metadata'] : {} };
}

/** The Status in an answer, with everything that every Status of a failure has. */
export function statusIn(reply: Reply): Status {
  assert.match(String(reply.headers['content-type']), /^application\/json/, reply.text);
  const value: Record<string, unknown> = JSON.parse(reply.text);
  assert.equal(value['kind'], 'Status', reply.text);
  assert.equal(value['apiVersion'], 'v1');
  assert.deepEqual(value['metadata'], {});
  assert.equal(value['status'], 'Failure');
  assert.equal(value['code'], reply.code);
  assert.ok(typeof value['message'] === 'string' && value['message'] !== '', 'a message for people');
  assert.doesNotMatch(reply.text, /\.ts\b|node_modules|node:internal|at .*:\d+:\d+/, 'nothing of the inside');
  return value;
}
