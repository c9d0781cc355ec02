import { join } from 'node:path';
import type { MaintainedStore, TaskName } from '../../apiserver/storage/index.ts';
import type { CheckReport, DefragReport, StoreStats } from '../../apiserver/storage-admin/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes, tryParseJson } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient, ConnectionError, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import type { WriteHold } from './hold.ts';
import { holdInFolder, holdThroughServer } from './hold.ts';

/** A store, reached through the server that uses it, or opened in its folder if no server does. */
export interface StorageAccess extends AsyncDisposable {
  stats(): Promise<StoreStats>;
  check(): Promise<CheckReport>;
  defrag(): Promise<DefragReport>;
  snapshot(): AsyncIterable<Uint8Array>;
  readonly hold: WriteHold;
}

interface AccessOptions {
  rootDir: string;
  /** Of a server, which may keep its store anywhere; `rootDir` is ignored then. */
  kubeconfig: string | undefined;
  signal: AbortSignal;
  log: Logger;
}

/** Max time between two chunks of a snapshot from a server. */
const snapshotIdleTimeoutMs = 60_000;

/** The caller disposes of the result. Throws an ExitError that says what to do. */
export async function accessStorage(options: AccessOptions): Promise<StorageAccess> {
  const { rootDir, kubeconfig, log } = options;
  if (kubeconfig !== undefined) return await openThroughServer(await readKubeconfig(kubeconfig), options);
  const { openFolder } = await import('../../apiserver/storage-admin/index.ts');
  const store = await openFolder(rootDir, log);
  if (store !== 'locked') return await openInFolder(store);
  return await openThroughServer(await readAdminKubeconfig(rootDir), options);
}

async function readAdminKubeconfig(rootDir: string): Promise<Kubeconfig> {
  const file = join(rootDir, 'admin.kubeconfig');
  try {
    return await readKubeconfig(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new ExitError(
      exitCodes.locked,
      `the store below ${rootDir} is in use by another process, and there is no ${file} to ask it by; name the kubeconfig of that server with --kubeconfig`,
    );
  }
}

async function openInFolder(store: MaintainedStore): Promise<StorageAccess> {
  const { takeSnapshot } = await import('../../apiserver/storage-admin/index.ts');
  return {
    stats: () => store.run('stats'),
    check: () => store.run('check'),
    defrag: () => store.run('defrag'),
    snapshot: () => takeSnapshot(store),
    hold: holdInFolder(store),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

async function openThroughServer(kubeconfig: Kubeconfig, { signal }: AccessOptions): Promise<StorageAccess> {
  const admin = await import('../../apiserver/storage-admin/index.ts');
  const client = new ApiClient(clientOptionsOf(kubeconfig));
  const request = async <T>(
    task: TaskName,
    method: 'GET' | 'POST',
    isReport: (value: unknown) => value is T,
  ) => {
    const path = `/storage/${task}`;
    const { code, body } = await client
      .request({ method, path, timeoutMs: 0, signal })
      .catch(explainConnectionError);
    const value = code === 200 ? tryParseJson(body) : undefined;
    if (value !== undefined && isReport(value)) return value;
    throw new ExitError(
      exitCodes.failed,
      `${client.server} answered ${code} to storage ${task}: ${parseReason(body)}`,
    );
  };
  return {
    stats: () => request('stats', 'GET', admin.isStats),
    check: () => request('check', 'POST', admin.isCheckReport),
    defrag: () => request('defrag', 'POST', admin.isDefragReport),
    snapshot: () =>
      client.download({ method: 'GET', path: '/storage/snapshot', signal }, snapshotIdleTimeoutMs),
    hold: holdThroughServer(client, signal, parseReason),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function explainConnectionError(error: unknown): never {
  if (!(error instanceof ConnectionError)) throw error;
  const advice = 'its store can only be reached through it while it runs; if it hangs, stop it and try again';
  throw new ExitError(exitCodes.failed, `${describeError(error)}; ${advice}`, { cause: error });
}

/** The message of a Status, or the beginning of another body. */
function parseReason(body: string): string {
  const value = tryParseJson(body);
  if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message);
  return body.trim().slice(0, 200);
}
