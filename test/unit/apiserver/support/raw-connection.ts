import assert from 'node:assert/strict';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { waitFor } from '../../../support/index.ts';

/** A TLS connection on which a test writes what it likes. */
export class RawConnection implements Disposable {
  readonly #socket: TLSSocket;
  #received = '';
  #closed = false;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#closed = true;
    });
  }

  static async open(options: ConnectionOptions & { localAddress?: string }): Promise<RawConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect(options, resolve);
    socket.once('error', reject);
    await promise;
    return new RawConnection(socket);
  }

  get received(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Says that no more is sent, and goes on to read. */
  end(): void {
    this.#socket.end();
  }

  /** Waits until what came matches. */
  async until(pattern: RegExp): Promise<string> {
    return await waitFor(`${pattern}`, () => (pattern.test(this.#received) ? this.#received : undefined));
  }

  async untilClosed(): Promise<string> {
    await waitFor('the end of the connection', () => this.#closed);
    return this.#received;
  }

  /** The codes of the answers so far. */
  get codes(): number[] {
    return [...this.#received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => Number(code));
  }

  /** Writes a request and waits for one answer more or the end; its code, 0 when the connection just ended. */
  async exchange(bytes: string | Buffer): Promise<number> {
    const before = this.codes.length;
    this.write(bytes);
    await waitFor('an answer', () => this.codes.length > before || this.#closed);
    const code = this.codes[before] ?? 0;
    assert.ok(code < 500, `answered ${this.#received.slice(0, 500)}`);
    return code;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
