import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testClient } from './client.ts';
import type { ServerFaults } from './faults/index.ts';
import type { TestKeys } from './keys.ts';
import { adminName } from './keys.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { TestApiServer } from './types.ts';

export interface ServerParts {
  url: string;
  keys: TestKeys;
  faults: ServerFaults;
  /** All that is to be ended and removed with the server, the server itself last but one. */
  owned: AsyncDisposableStack;
}

/** A server that runs, as a test sees it. */
export function createTestServer({ url, keys, faults, owned }: ServerParts): TestApiServer {
  const ca = keys.authority.cert;
  const clientOf = (user: string, pair: TestKeys['admin']) => {
    const client = testClient({ url, ca, user, pair });
    owned.defer(() => client.close());
    return client;
  };
  const admin = clientOf(adminName, keys.admin);
  let file: Promise<string> | undefined;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= Promise.allSettled([file]).then(() => owned.disposeAsync());
    return closing;
  };
  const mustBeOpen = () => {
    if (closing !== undefined) throw new Error(`the server ${url} is closed`);
  };

  async function writeKubeconfig(): Promise<string> {
    mustBeOpen();
    const folder = owned.use(await temporaryFolder());
    const path = join(folder.path, 'kubeconfig');
    await writeFile(path, admin.kubeconfig, { mode: 0o600 });
    return path;
  }

  return {
    url,
    ca,
    kubeconfig: admin.kubeconfig,
    faults,
    kubeconfigFile() {
      file ??= writeKubeconfig();
      return file;
    },
    async client(user, groups = []) {
      if (user === undefined) return admin;
      mustBeOpen();
      if (user === '') throw new TypeError('a user has a name');
      return clientOf(user, keys.issue(user, groups));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
