import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';

/** Where a server is and who asks it. */
export interface Target {
  url: string;
  pid: number;
  ca: string;
  cert: string;
  key: string;
}

export interface Reply {
  status: number;
  /** Head and body; valid until the next request. */
  bytes: Buffer;
  /** Where the body begins. */
  bodyAt: number;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const headEnd = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection on which one request after the other is sent, knowing no more of HTTP than these servers
 * answer. It costs a third of what a real client does, so that on a small machine the server is what is measured.
 */
export class Connection implements Disposable {
  readonly #socket: TLSSocket;
  readonly #parts: Buffer[] = [];
  #received = 0;
  /** Of the whole answer; 0 while its head is not complete. */
  #expected = 0;
  #waiting: Waiting | undefined;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (part: Buffer) => this.#take(part));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static open({ url, ca, cert, key }: Target): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ca, cert, key }, () => {
        socket.off('error', reject);
        socket.setNoDelay(true);
        resolve(new Connection(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Sends a whole request; the one before must have been answered. */
  ask(request: Uint8Array): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  [Symbol.dispose](): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(part: Buffer): void {
    this.#parts.push(part);
    this.#received += part.length;
    if (this.#expected === 0) this.#readHead();
    if (this.#expected === 0 || this.#received < this.#expected) return;
    const bytes = this.#whole();
    this.#parts.length = 0;
    this.#received = 0;
    this.#expected = 0;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const status = Number(bytes.toString('latin1', 9, 12));
    waiting?.resolve({ status, bytes, bodyAt: bytes.indexOf(headEnd) + headEnd.length });
  }

  #readHead(): void {
    const bytes = this.#whole();
    const end = bytes.indexOf(headEnd);
    if (end < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1];
    if (length === undefined) this.#fail(new Error('the answer has no content-length'));
    else this.#expected = end + headEnd.length + Number(length);
  }

  #whole(): Buffer {
    const [only, ...more] = this.#parts;
    return only !== undefined && more.length === 0 ? only : Buffer.concat(this.#parts);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

export interface Sent {
  method: string;
  path: string;
  body?: string | Uint8Array;
  headers?: Readonly<Record<string, string>>;
}

/** The bytes of a request. */
export function requestBytes({ method, path, body, headers = {} }: Sent): Uint8Array {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: localhost', 'accept: application/json'];
  if (headers['accept'] !== undefined) lines.pop();
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body === undefined) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (headers['content-type'] === undefined) lines.push('content-type: application/json');
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  lines.push(`content-length: ${bytes.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}
