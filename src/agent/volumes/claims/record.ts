import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isRecord, readRegularFile, tryParseJson, writeFileAtomic } from '../../../base/index.ts';
import type { Place } from '../place.ts';
import { pluginsFolder } from '../place.ts';

/**
 * What a claim of a pod led to, which stays so as long as the pod lives. It is kept on the disk: after a start of the agent, what is
 * mounted already needs no API.
 */
export interface ClaimRecord {
  /** Of the PersistentVolume. */
  readonly name: string;
  /** Of the volume, such as `kubernetes.io~csi`. */
  readonly plugin: string;
  readonly isBlock: boolean;
  /** Undefined for a volume without one. */
  readonly driver: string | undefined;
  /** A group that the processes of the pod get. */
  readonly group: number | undefined;
}

const plugin = 'kubernetes.io~claim';
const file = 'claim.json';
const limitBytes = 16 * 1024;

export async function writeClaimRecord(
  place: Place,
  uid: string,
  volume: string,
  record: ClaimRecord,
): Promise<void> {
  await using _folder = await place.make(uid, pluginsFolder, plugin, volume);
  await writeFileAtomic(
    join(await place.pathOf(uid, pluginsFolder, plugin, volume), file),
    JSON.stringify(record),
  );
}

/** Undefined where there is none, or none that can be read: then the API is asked again. */
export async function readClaimRecord(
  place: Place,
  uid: string,
  volume: string,
): Promise<ClaimRecord | undefined> {
  const path = join(await place.pathOf(uid, pluginsFolder, plugin, volume), file);
  let text: string;
  try {
    text = (await readRegularFile(path, { limitBytes, noFollow: true })).toString();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    await unlink(path).catch(() => undefined);
    return undefined;
  }
  const found = tryParseJson(text);
  if (!isRecord(found)) return undefined;
  const { name, plugin: ofVolume, isBlock, driver, group } = found;
  if (typeof name !== 'string' || typeof ofVolume !== 'string' || typeof isBlock !== 'boolean')
    return undefined;
  return {
    ...{ name, isBlock, plugin: ofVolume },
    driver: typeof driver === 'string' ? driver : undefined,
    group: typeof group === 'number' ? group : undefined,
  };
}
