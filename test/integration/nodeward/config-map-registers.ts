import { isRecord } from '../../../src/api/index.ts';
import type { ApiClient, RawAnswer, RawRequest } from '../../../src/client/index.ts';
import { ConnectionError } from '../../../src/client/index.ts';
import type { Answer, Held, RegisterOutput, Registers } from '../../support/linearizability/index.ts';

const path = '/api/v1/namespaces/default/configmaps';

/** ConfigMaps of the namespace `default` as registers: what a client of the API may rely on for one object. */
export class ConfigMapRegisters implements Registers {
  readonly #api: ApiClient;
  /** Aborts when a request was not answered: the server is gone. */
  readonly #gone = new AbortController();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async read(key: string): Promise<Answer<RegisterOutput>> {
    const answer = await this.#ask({ method: 'GET', path: `${path}/${key}` });
    if (typeof answer === 'string') return answer;
    if (answer.code === 404) return { output: { saw: 'absent' } };
    return { output: { saw: heldIn(must(answer, 200)) } };
  }

  async write(key: string, expect: number | 'any', value: string | null): Promise<Answer<RegisterOutput>> {
    const answer = await this.#ask(requestOf(key, expect, value));
    if (typeof answer === 'string') return answer;
    if (answer.code === 404) return { output: { refusedFor: 'absent' } };
    if (answer.code === 409) return { output: { refusedFor: 'present' } };
    if (value === null) return must(answer, 200) && { output: { version: undefined } };
    return { output: { version: heldIn(must(answer, expect === 0 ? 201 : 200)).version } };
  }

  /** All of these at once, by one list. */
  async readAll(keys: readonly string[]): Promise<Answer<readonly RegisterOutput[]>> {
    const answer = await this.#ask({ method: 'GET', path });
    if (typeof answer === 'string') return answer;
    const list = must(answer, 200);
    const at = versionIn(list);
    const items = Array.isArray(list['items']) ? list['items'].filter(isRecord) : [];
    const held = new Map(items.map((item) => [nameIn(item), item]));
    return {
      output: keys.map((key) => {
        const item = held.get(key);
        return { saw: item === undefined ? 'absent' : heldIn(item), at };
      }),
    };
  }

  /** What was sent on a connection that broke may have been done; what was never sent was not. */
  async #ask(request: RawRequest): Promise<RawAnswer | 'unknown' | 'never'> {
    if (this.gone.aborted) return 'never';
    try {
      const answer = await this.#api.request(request);
      if (answer.code === 429 || answer.code === 503) return 'never'; // nothing was changed
      return answer.code >= 500 ? 'unknown' : answer;
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#gone.abort();
      return error.reason === 'refused' ? 'never' : 'unknown';
    }
  }
}

function requestOf(key: string, expect: number | 'any', value: string | null): RawRequest {
  const preconditions = expect === 'any' ? {} : { resourceVersion: String(expect) };
  if (value === null) {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
    return { method: 'DELETE', path: `${path}/${key}`, body: JSON.stringify(options) };
  }
  const metadata = { name: key, ...(expect === 0 ? {} : preconditions) };
  const body = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { value } });
  return expect === 0 ? { method: 'POST', path, body } : { method: 'PUT', path: `${path}/${key}`, body };
}

function must({ code, body }: RawAnswer, expected: number): Record<string, unknown> {
  const value: unknown = JSON.parse(body);
  if (code !== expected || !isRecord(value)) throw new Error(`${code} instead of ${expected}: ${body}`);
  return value;
}

function heldIn(object: Record<string, unknown>): Held {
  const data = isRecord(object['data']) ? object['data'] : {};
  return { value: String(data['value']), version: versionIn(object) };
}

function versionIn(object: Record<string, unknown>): number {
  const version = Number(metadataOf(object)['resourceVersion']);
  if (!Number.isSafeInteger(version) || version < 1) throw new Error(`no version: ${JSON.stringify(object)}`);
  return version;
}

function nameIn(object: Record<string, unknown>): string {
  return String(metadataOf(object)['name']);
}

function metadataOf(object: Record<string, unknown>): Record<string, unknown> {
  return isRecord(object['metadata']) ? object['metadata'] : {};
}
