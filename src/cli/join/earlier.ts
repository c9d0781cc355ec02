import { join } from 'node:path';
import { ExitError, errorCode, exitCodes, readRegularFile } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { readKubeconfig } from '../../client/index.ts';
import { hashAuthority } from '../agent-client/authority-hash.ts';

const limitBytes = 64 * 1024;

/** What this machine is already. */
type Earlier = 'nothing' | 'member' | 'controlPlane';

/**
 * Finds out whether the agent of a root folder has joined the control plane with this hash. `controlPlane`: it runs one of
 * its own, which it would no longer start. Throws an ExitError where joining would break a cluster.
 */
export async function findEarlier(rootDir: string, hashes: readonly string[]): Promise<Earlier> {
  const own = await readOwnAuthority(rootDir);
  if (own !== undefined && hashes.includes(hashAuthority(own)))
    throw new ExitError(
      exitCodes.configuration,
      `this machine runs that control plane itself, in ${rootDir}: run the command on the machine that is to join`,
    );
  const joined = await readJoined(join(rootDir, 'node.kubeconfig'));
  if (joined === undefined) return own === undefined ? 'nothing' : 'controlPlane';
  if (hashes.includes(hashAuthority(joined.ca))) return 'member';
  throw new ExitError(
    exitCodes.configuration,
    `this machine has joined another control plane, ${joined.server}: to leave it, stop the agent and remove ${join(rootDir, 'node.kubeconfig')}, then join again`,
  );
}

async function readOwnAuthority(rootDir: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(join(rootDir, 'pki/ca.crt'), { limitBytes })).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readJoined(path: string): Promise<Kubeconfig | undefined> {
  try {
    return await readKubeconfig(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What a bootstrap kubeconfig is to say. */
interface Bootstrap {
  server: string;
  token: string;
  hashes: readonly string[];
}

/** Whether a bootstrap kubeconfig says this already. One that cannot be read does not. */
export async function hasBootstrap(path: string, { server, token, hashes }: Bootstrap): Promise<boolean> {
  const before = await readKubeconfig(path).catch(() => undefined);
  if (before === undefined) return false;
  return before.server === server && before.token === token && hashes.includes(hashAuthority(before.ca));
}
