import { isRecord } from '../../../src/api/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';
import { ConnectionError } from '../../../src/client/index.ts';

/** Every so often a counter is deleted and begins anew. */
const lifetime = 9;

/** ConfigMaps that count up by one with every write; each is written by one writer. */
export class Counters {
  readonly #path: string;
  readonly #names: readonly string[];
  /** How many writes were answered. */
  writes = 0;

  constructor(namespace: string, count: number) {
    this.#path = `/api/v1/namespaces/${namespace}/configmaps`;
    this.#names = Array.from({ length: count }, (_, index) => `counter-${index}`);
  }

  /** Counts until `signal` aborts or the server is gone. */
  async count(api: ApiClient, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#countOne(api, name, signal)));
  }

  async #countOne(api: ApiClient, name: string, signal: AbortSignal): Promise<void> {
    try {
      let at = await this.#read(api, name); // what is there after a kill is not what was answered last
      while (!signal.aborted) {
        at = await this.#step(api, name, at);
        this.writes += 1;
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }

  async #read(api: ApiClient, name: string): Promise<number> {
    const { code, body } = await api.request({ method: 'GET', path: `${this.#path}/${name}` });
    return code === 404 ? 0 : countIn(JSON.parse(body));
  }

  /** Answers what it stands at then; 0: there is none. */
  async #step(api: ApiClient, name: string, at: number): Promise<number> {
    const path = at === 0 ? this.#path : `${this.#path}/${name}`;
    const isOver = at >= lifetime;
    const method = at === 0 ? 'POST' : isOver ? 'DELETE' : 'PUT';
    const next = isOver ? 0 : at + 1;
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { count: String(next) } };
    const answer = await api.request({ method, path, ...(isOver ? {} : { body: JSON.stringify(object) }) });
    if (answer.code >= 300) throw new Error(`${method} ${name}: ${answer.code} ${answer.body}`);
    return next;
  }
}

/** What a counter stands at, from its object. */
export function countIn(object: unknown): number {
  const data = isRecord(object) ? object['data'] : undefined;
  return Number(isRecord(data) ? data['count'] : Number.NaN);
}
