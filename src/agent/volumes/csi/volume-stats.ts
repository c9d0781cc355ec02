import type { Place } from '../place.ts';
import type { NodeStorage } from '../storage.ts';
import type { PodVolumeName } from './paths.ts';
import { podPaths, stagePaths } from './paths.ts';
import type { VolumeStats } from './types.ts';
import { readVolumeData } from './volume-data.ts';

/**
 * How full a volume of a driver is; undefined: the driver does not tell, or is not there. It holds up nothing else that is done with
 * the volume, which may be taken from its pod meanwhile: then the driver refuses.
 */
export async function readVolumeStats(
  of: PodVolumeName,
  { place, storage }: { readonly place: Place; readonly storage: Pick<NodeStorage, 'drivers'> },
  signal: AbortSignal,
): Promise<VolumeStats | undefined> {
  const at = await podPaths(place, of);
  const data = await readVolumeData(at.data);
  if (data === undefined) return undefined;
  const driver = storage.drivers.driver(data.driver);
  if (driver === undefined) return undefined;
  const abilities = await driver.abilities(signal);
  if (!abilities.has('stats')) return undefined;
  const isStaged = data.lifecycle === 'Persistent' && abilities.has('stage');
  const stagingPath = isStaged ? (await stagePaths(place, data)).target : '';
  return await driver.stats({ volumeId: data.handle, path: at.target, stagingPath }, signal);
}
