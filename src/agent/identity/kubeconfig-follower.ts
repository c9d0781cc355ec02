import { stat } from 'node:fs/promises';
import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { publishApi } from './credentials.ts';

export interface FollowerOptions {
  /** The kubeconfig. */
  path: string;
  /** The files that it names, as of when it was read first. */
  files: readonly string[];
  groupSuffix: string;
  /** What the kubeconfig says now; changed where it says something else. */
  credentials: Latest<ClientOptions>;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

const everyMs = 10_000;

/**
 * The service `kubeconfig`: reads the kubeconfig again when it, or a certificate, key or token file that it names, has
 * changed. One that cannot be used, as in the middle of a change, is told once and not taken.
 */
export function kubeconfigFollower(options: FollowerOptions): Service {
  const { path, groupSuffix, credentials, clock, log } = options;
  let files = options.files;
  let told = '';

  async function reread(): Promise<void> {
    const found = await readKubeconfig(path);
    const next = { ...clientOptionsOf(found), groupSuffix };
    await new ApiClient(next).close(); // refuses what cannot be used
    files = found.files;
    if (publishApi(credentials, next))
      log.info({ kubeconfig: path }, 'the kubeconfig has changed and was read again');
  }

  /** Whether what is on disk is what is in use. */
  async function look(): Promise<boolean> {
    try {
      await reread();
      told = '';
      return true;
    } catch (error) {
      const wrong = describeError(error);
      if (wrong !== told) log.warn(`keeping the credentials that are in use: ${wrong}`);
      told = wrong;
      return false;
    }
  }

  return {
    name: 'kubeconfig',
    dependsOn: options.dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      let seen: string | undefined; // it may have changed since it was read first
      while (!signal.aborted) {
        const before = await stateOf([path, ...files]); // before reading: what changes meanwhile is not missed
        if (before !== seen) seen = (await look()) ? before : undefined;
        await clock.sleep(everyMs, signal);
      }
    },
  };
}

/** Changes when one of the files does, or another file comes in its place. */
async function stateOf(paths: readonly string[]): Promise<string> {
  const states = await Promise.all(
    paths.map(async (path) => {
      const facts = await stat(path, { bigint: true }).catch(() => undefined);
      return `${path} ${facts?.ino} ${facts?.size} ${facts?.mtimeNs}`;
    }),
  );
  return states.join('\n');
}
