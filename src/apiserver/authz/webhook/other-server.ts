import type { ClientOptions, RawAnswer } from '../../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../client/index.ts';

/** The server to which reviews are posted, with the credentials for it. */
export interface OtherServer {
  options: ClientOptions;
  /** The path of the configured address, with or without a slash at its end as it is written there. */
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

/** The current server, and former ones for as long as requests to them are open. */
export class OtherServers {
  readonly #limits: Limits;
  #current: OtherServer;
  #client: ApiClient;
  readonly #openRequests = new Map<ApiClient, number>();

  constructor(first: OtherServer, limits: Limits) {
    this.#limits = limits;
    this.#current = first;
    this.#client = this.#createClient(first);
  }

  use(next: OtherServer): void {
    const before = this.#client;
    this.#current = next;
    this.#client = this.#createClient(next);
    if (!this.#openRequests.has(before)) void before.close();
  }

  async post(body: string, signal: AbortSignal): Promise<RawAnswer> {
    const client = this.#client;
    this.#openRequests.set(client, (this.#openRequests.get(client) ?? 0) + 1);
    try {
      return await client.request({ method: 'POST', path: this.#current.path, body, signal });
    } finally {
      this.#release(client);
    }
  }

  #release(client: ApiClient): void {
    const left = (this.#openRequests.get(client) ?? 1) - 1;
    if (left > 0) {
      this.#openRequests.set(client, left);
      return;
    }
    this.#openRequests.delete(client);
    if (client !== this.#client) void client.close();
  }

  /** Open requests fail. */
  async close(): Promise<void> {
    await Promise.all([this.#client, ...this.#openRequests.keys()].map((client) => client.close()));
  }

  #createClient({ options }: OtherServer): ApiClient {
    return new ApiClient({ ...options, ...this.#limits, answerLimitBytes });
  }
}
