import type { ClientOptions, RawAnswer } from '../../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../client/index.ts';

/** Where reviews are posted, as whom. */
export interface OtherServer {
  options: ClientOptions;
  /** Reviews go to the address itself, with or without a slash at its end as it is written. */
  path: string;
}

/** Throws an ExitError when the kubeconfig cannot be used. */
export async function readOtherServer(kubeconfig: string): Promise<OtherServer> {
  const options = clientOptionsOf(await readKubeconfig(kubeconfig));
  const { origin, pathname } = new URL(options.server);
  return { options: { ...options, server: origin }, path: pathname };
}

interface Limits {
  timeoutMs: number;
  connections: number;
}

const answerLimitBytes = 64 * 1024;

/** The server that is asked now, and those of before for as long as somebody waits for them. */
export class OtherServers {
  readonly #limits: Limits;
  #current: OtherServer;
  #client: ApiClient;
  readonly #asked = new Map<ApiClient, number>();

  constructor(first: OtherServer, limits: Limits) {
    this.#limits = limits;
    this.#current = first;
    this.#client = this.#clientOf(first);
  }

  use(next: OtherServer): void {
    const before = this.#client;
    this.#current = next;
    this.#client = this.#clientOf(next);
    if (!this.#asked.has(before)) void before.close();
  }

  async post(body: string, signal: AbortSignal): Promise<RawAnswer> {
    const client = this.#client;
    this.#asked.set(client, (this.#asked.get(client) ?? 0) + 1);
    try {
      return await client.request({ method: 'POST', path: this.#current.path, body, signal });
    } finally {
      this.#answered(client);
    }
  }

  #answered(client: ApiClient): void {
    const left = (this.#asked.get(client) ?? 1) - 1;
    if (left > 0) {
      this.#asked.set(client, left);
      return;
    }
    this.#asked.delete(client);
    if (client !== this.#client) void client.close();
  }

  /** Questions that wait fail. */
  async close(): Promise<void> {
    await Promise.all([this.#client, ...this.#asked.keys()].map((client) => client.close()));
  }

  #clientOf({ options }: OtherServer): ApiClient {
    return new ApiClient({ ...options, ...this.#limits, answerLimitBytes });
  }
}
