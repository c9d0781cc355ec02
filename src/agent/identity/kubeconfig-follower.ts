import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { createFileFollower } from '../../base/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { publishApi } from './credentials.ts';

export interface FollowerOptions {
  /** The kubeconfig. */
  path: string;
  /** The files that the kubeconfig named when it was read first. */
  files: readonly string[];
  groupSuffix: string;
  /** Updated when the kubeconfig has changed. */
  credentials: Latest<ClientOptions>;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

const intervalMs = 10_000;

/**
 * The service `kubeconfig`: reads the kubeconfig again when it, or a certificate, key or token file that it names, has
 * changed. A kubeconfig that cannot be used, as in the middle of a change, is reported once and ignored.
 */
export function kubeconfigFollower(options: FollowerOptions): Service {
  const { path, groupSuffix, credentials, dependsOn, clock, log } = options;
  let namedFiles = options.files;
  return createFileFollower({
    name: 'kubeconfig',
    dependsOn,
    intervalMs,
    clock,
    files: () => [path, ...namedFiles],
    async reread() {
      const found = await readKubeconfig(path);
      const next = { ...clientOptionsOf(found), groupSuffix };
      await new ApiClient(next).close(); // refuses what cannot be used
      namedFiles = found.files;
      if (publishApi(credentials, next))
        log.info({ kubeconfig: path }, 'the kubeconfig has changed and was read again');
    },
    onProblem: (problem) => log.warn(`keeping the credentials that are in use: ${problem}`),
  });
}
