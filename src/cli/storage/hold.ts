import { dirname } from 'node:path';
import type { MaintainedStore } from '../../apiserver/storage/index.ts';
import type { HoldReport } from '../../apiserver/storage-admin/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';

/**
 * Keeps a store read-only while its objects are copied to `to`. All methods throw an ExitError or StorageError that says
 * what to do.
 */
export interface WriteHold {
  /** Starts or renews the hold; it expires 30 seconds after the last call. */
  take(to: string): Promise<HoldReport>;
  /** Makes the hold permanent; `revision` is the one that `take` returned. */
  seal(revision: number, to: string): Promise<void>;
  release(): Promise<void>;
}

/** No server can open the store while this process has it open. */
export function holdInFolder(store: MaintainedStore): WriteHold {
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
      // the hold ends with this process
    },
  };
}

export function holdThroughServer(
  client: ApiClient,
  signal: AbortSignal,
  parseReason: (body: string) => string,
): WriteHold {
  const id = crypto.randomUUID();
  const request = async (
    method: 'POST' | 'PUT' | 'DELETE',
    query: Record<string, string>,
  ): Promise<HoldReport> => {
    const path = `/storage/hold?${new URLSearchParams({ id, ...query })}`;
    const abort = method === 'DELETE' ? {} : { signal }; // an interrupted migration still releases the hold
    const { code, body } = await client.request({ method, path, timeoutMs: 10_000, ...abort });
    if (code === 409) throw holdError(client.server, method);
    const report = code === 200 ? parseReport(body) : undefined;
    if (report !== undefined) return report;
    throw new ExitError(
      exitCodes.failed,
      `${client.server} answered ${code} to a hold of its writers: ${parseReason(body)}`,
    );
  };
  return {
    take: (to) => request('POST', { to }),
    async seal(revision, to) {
      await request('PUT', { revision: String(revision), to });
    },
    async release() {
      // if the request fails, the hold expires
      await request('DELETE', {}).catch(() => undefined);
    },
  };
}

function holdError(server: string, method: string): ExitError {
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

function parseReport(body: string): HoldReport | undefined {
  const value: unknown = JSON.parse(body);
  if (typeof value !== 'object' || value === null) return undefined;
  const revision = 'revision' in value && typeof value.revision === 'number' ? value.revision : 0;
  return { revision, sealed: 'sealed' in value && value.sealed === true };
}
