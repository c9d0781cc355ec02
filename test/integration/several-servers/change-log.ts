import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { StatusError } from '../../../src/api/index.ts';
import { configMapKind } from '../../../src/api/kinds/core/config-map.ts';
import type { ApiClient } from '../../../src/client/index.ts';

/** What one watcher of ConfigMaps has been told. */
export interface ChangeLog {
  /** `TYPE name version value`. */
  readonly lines: readonly string[];
  readonly versions: readonly number[];
  /** How often it has gone on elsewhere. */
  readonly moves: number;
  /** How often it was told that its version is too old. */
  readonly expiries: number;
  /** Settles after the signal; rejects with what no watcher may be told. */
  readonly ended: Promise<void>;
}

/** Watches from a version on, whatever server answers: after each end it goes on from the last version elsewhere. */
export function followChanges(next: () => ApiClient, from: number, signal: AbortSignal): ChangeLog {
  const log = { lines: [] as string[], versions: [] as number[], moves: 0, expiries: 0 };
  let at = from;

  async function once(client: ApiClient): Promise<void> {
    const options = { namespace: 'default', allowWatchBookmarks: true, signal };
    for await (const { type, object } of client.watch(configMapKind, {
      ...options,
      resourceVersion: `${at}`,
    })) {
      const { name = '', resourceVersion } = object.metadata ?? {};
      const version = Number(resourceVersion);
      assert.ok(type === 'BOOKMARK' ? version >= at : version > at, `${type} ${name}@${version} after ${at}`);
      at = version;
      if (type === 'BOOKMARK') continue;
      log.versions.push(version);
      log.lines.push(`${type} ${name} ${version} ${object.data?.['value'] ?? ''}`);
    }
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        await once(next());
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        if (error instanceof StatusError && error.code === 410) log.expiries += 1;
      }
      log.moves += 1;
      await sleep(50, undefined, { signal }).catch(() => undefined);
    }
  }

  return Object.assign(log, { ended: follow() });
}
