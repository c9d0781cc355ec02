import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateClient } from './client.ts';
import type { ServerFaults } from './faults/server-faults.ts';
import type { TestKeys } from './keys.ts';
import { adminName } from './keys.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TestApiServer, TestClient } from './types.ts';

interface ServerParts {
  url: string;
  keys: TestKeys;
  faults: ServerFaults;
  /** Disposed of when the server is closed; stops the server itself. */
  owned: AsyncDisposableStack;
}

/** A running server. Its methods are bound, so that tests can pass them on without the server. */
export class InProcessServer implements TestApiServer {
  readonly url: string;
  readonly faults: ServerFaults;
  readonly #keys: TestKeys;
  readonly #owned: AsyncDisposableStack;
  readonly #admin: CertificateClient;
  #kubeconfigFile: Promise<string> | undefined;
  #closing: Promise<void> | undefined;

  constructor({ url, keys, faults, owned }: ServerParts) {
    this.url = url;
    this.faults = faults;
    this.#keys = keys;
    this.#owned = owned;
    this.#admin = this.#createClient(adminName, keys.admin);
  }

  get ca(): string {
    return this.#keys.authority.cert;
  }

  get kubeconfig(): string {
    return this.#admin.kubeconfig;
  }

  readonly kubeconfigFile = (): Promise<string> => {
    this.#kubeconfigFile ??= this.#writeKubeconfig();
    return this.#kubeconfigFile;
  };

  readonly client = async (user?: string, groups: readonly string[] = []): Promise<TestClient> => {
    if (user === undefined) return this.#admin;
    this.#checkOpen();
    if (user === '') throw new TypeError('a user has a name');
    return this.#createClient(user, this.#keys.issue(user, groups));
  };

  readonly close = (): Promise<void> => {
    this.#closing ??= Promise.allSettled([this.#kubeconfigFile]).then(() => this.#owned.disposeAsync());
    return this.#closing;
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #createClient(user: string, pair: TestKeys['admin']): CertificateClient {
    const client = new CertificateClient({ url: this.url, ca: this.ca, user, pair });
    this.#owned.defer(() => client.close());
    return client;
  }

  async #writeKubeconfig(): Promise<string> {
    this.#checkOpen();
    const folder = this.#owned.use(await temporaryFolder());
    const path = join(folder.path, 'kubeconfig');
    await writeFile(path, this.kubeconfig, { mode: 0o600 });
    return path;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new Error(`the server ${this.url} is closed`);
  }
}
