import type { Pair } from '../base/x509/index.ts';
import type { ApiClient } from '../client/index.ts';
import { createClient, renderKubeconfig } from '../client/index.ts';
import type { TestAnswer, TestClient } from './types.ts';

/** A client that is to be closed; its connections are made at its first request. */
export type OwnClient = TestClient & { close(): Promise<void> };

export interface ClientPlace {
  url: string;
  ca: string;
  user: string;
  pair: Pair;
}

export function testClient({ url, ca, user, pair }: ClientPlace): OwnClient {
  let closed = false;
  let api: ApiClient | undefined;
  const connect = () => {
    if (closed) throw new Error(`the server ${url} is closed`);
    return createClient({ server: url, ca, ...pair, timeoutMs: 0 }); // a delay is for the test to decide
  };
  return {
    url,
    ca,
    ...pair,
    kubeconfig: renderKubeconfig({ server: url, ca, ...pair, user }),
    async request(method, path, body, contentType = 'application/json') {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const sent = text === undefined ? {} : { body: text, contentType };
      api ??= connect();
      const answer = await api.request({ method, path, ...sent });
      return { ...answer, body: parsed(answer.body) } satisfies TestAnswer;
    },
    async close() {
      closed = true;
      await api?.close();
      api = undefined;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
