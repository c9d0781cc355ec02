import assert from 'node:assert/strict';
import type { Endpoint, Reply, Send } from '../../unit/apiserver/support/api-tester.ts';
import { ApiTester, statusIn } from '../../unit/apiserver/support/api-tester.ts';
import type { RawConnection } from '../../unit/apiserver/support/raw-connection.ts';
import type { Secrets } from './secrets.ts';

/** Somebody who is not to learn anything: all that they are answered is looked at. */
export class Asker {
  readonly #tester: ApiTester;
  readonly #headers: Record<string, string>;
  readonly #secrets: Secrets;

  constructor(endpoint: Endpoint, headers: Record<string, string>, secrets: Secrets) {
    this.#tester = new ApiTester(endpoint);
    this.#headers = headers;
    this.#secrets = secrets;
  }

  close(): void {
    this.#tester.close();
  }

  /** One request and its answer, which is never a failure of the server. */
  async ask(method: string, path: string, send: Send = {}): Promise<Reply> {
    const headers = { ...this.#headers, ...send.headers };
    const reply = await this.#tester.request(method, path, { ...send, headers });
    const where = `the answer to ${method} ${path}`;
    this.#secrets.tell(where, `${reply.rawHeaders.join('\n')}\n${reply.text}`);
    assert.ok(reply.code < 500, `${where}: ${reply.code} ${reply.text}`);
    return reply;
  }

  /** A request that is refused with one of these codes, by a Status where there is a body, and a challenge with 401. */
  async refused(codes: readonly number[], method: string, path: string, send: Send = {}): Promise<Reply> {
    const reply = await this.ask(method, path, send);
    const told = `${method} ${path}: ${reply.code} ${reply.text.slice(0, 300)}`;
    assert.ok(codes.includes(reply.code), told);
    if (method !== 'HEAD') statusIn(reply);
    const challenge = String(reply.headers['www-authenticate'] ?? '');
    assert.equal(/^Bearer /.test(challenge), reply.code === 401, `${told}: ${challenge}`);
    return reply;
  }

  /** A connection on which a test writes its own bytes; what comes back must be given to `heard`. */
  raw(): Promise<RawConnection> {
    return this.#tester.raw();
  }

  heard(what: string, text: string): void {
    this.#secrets.tell(`the answer to ${what}`, text);
  }
}
