import type { Pair } from '../base/x509/index.ts';
import { ApiClient, renderKubeconfig } from '../client/index.ts';
import type { TestAnswer, TestClient } from './types.ts';

interface ClientSettings {
  url: string;
  ca: string;
  user: string;
  pair: Pair;
}

/**
 * A client with a certificate; it connects with its first request. The creator closes it. `request` is bound, so that
 * tests can pass it on without the client.
 */
export class CertificateClient implements TestClient {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly kubeconfig: string;
  #api: ApiClient | undefined;
  #isClosed = false;

  constructor({ url, ca, user, pair }: ClientSettings) {
    this.url = url;
    this.ca = ca;
    this.cert = pair.cert;
    this.key = pair.key;
    this.kubeconfig = renderKubeconfig({ server: url, ca, ...pair, user });
  }

  readonly request: TestClient['request'] = async (method, path, body, contentType = 'application/json') => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const content = text === undefined ? {} : { body: text, contentType };
    this.#api ??= this.#connect();
    const answer = await this.#api.request({ method, path, ...content });
    return { ...answer, body: parseIfJson(answer.body) } satisfies TestAnswer;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#api?.close();
    this.#api = undefined;
  }

  #connect(): ApiClient {
    if (this.#isClosed) throw new Error(`the server ${this.url} is closed`);
    const { url: server, ca, cert, key } = this;
    return new ApiClient({ server, ca, cert, key, timeoutMs: 0 }); // no timeout: a test may delay requests
  }
}

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
