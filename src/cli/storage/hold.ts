import { dirname } from 'node:path';
import type { MaintainedStore } from '../../apiserver/storage/index.ts';
import type { HoldReport } from '../../apiserver/storage-admin/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';

/** Keeps writers off a store whose objects are moved. All throw an ExitError or StorageError that says what to do. */
export interface HoldCalls {
  /** Begins or renews; must be called again within 30 seconds. */
  take(to: string): Promise<HoldReport>;
  /** For good, at the revision of the hold. */
  seal(revision: number, to: string): Promise<void>;
  release(): Promise<void>;
}

/** Whoever has the folder's store open keeps all others off. */
export function holdInFolder(store: MaintainedStore): HoldCalls {
  const folder = dirname(store.file);
  return {
    async take(to) {
      const { markFile, readMark, StorageError } = await import('../../apiserver/storage/index.ts');
      if ((await readMark(folder, 'incomplete')) !== undefined) {
        throw new StorageError(
          'moved',
          `the store in ${folder} is not complete: a migration into it has not ended`,
        );
      }
      const moved = await readMark(folder, 'moved');
      if (moved !== undefined && moved.place !== to) {
        const advice = `to move what is here nevertheless, remove ${markFile(folder, 'moved')}`;
        throw new StorageError(
          'moved',
          `the objects in ${folder} were moved to ${moved.place} at ${moved.at}; ${advice}`,
        );
      }
      return { revision: await store.revision(), sealed: moved !== undefined };
    },
    async seal(_revision, to) {
      const { writeMark } = await import('../../apiserver/storage/index.ts');
      await writeMark(folder, 'moved', { place: to, at: new Date().toISOString() });
    },
    async release() {
      // it ends with this process
    },
  };
}

export function holdThroughServer(
  client: ApiClient,
  signal: AbortSignal,
  reasonIn: (body: string) => string,
): HoldCalls {
  const id = crypto.randomUUID();
  const ask = async (
    method: 'POST' | 'PUT' | 'DELETE',
    query: Record<string, string>,
  ): Promise<HoldReport> => {
    const path = `/storage/hold?${new URLSearchParams({ id, ...query })}`;
    const ends = method === 'DELETE' ? {} : { signal };
    const { code, body } = await client.request({ method, path, timeoutMs: 10_000, ...ends });
    if (code === 409) throw lost(client.server, method);
    const report = code === 200 ? reportIn(body) : undefined;
    if (report !== undefined) return report;
    throw new ExitError(
      exitCodes.failed,
      `${client.server} answered ${code} to a hold of its writers: ${reasonIn(body)}`,
    );
  };
  return {
    take: (to) => ask('POST', { to }),
    async seal(revision, to) {
      await ask('PUT', { revision: String(revision), to });
    },
    async release() {
      // without it the hold ends by itself
      await ask('DELETE', {}).catch(() => undefined);
    },
  };
}

function lost(server: string, method: string): ExitError {
  if (method === 'POST') {
    const why = 'another migration keeps its writers off, or its objects were moved elsewhere already';
    return new ExitError(
      exitCodes.locked,
      `${server} cannot be held: ${why}; after half a minute without that migration, try again`,
    );
  }
  const why = 'it could not be told in time that it must go on taking no writes';
  return new ExitError(exitCodes.failed, `${server} may have taken writes meanwhile: ${why}; migrate again`);
}

function reportIn(body: string): HoldReport | undefined {
  const value: unknown = JSON.parse(body);
  if (typeof value !== 'object' || value === null) return undefined;
  const revision = 'revision' in value && typeof value.revision === 'number' ? value.revision : 0;
  return { revision, sealed: 'sealed' in value && value.sealed === true };
}
