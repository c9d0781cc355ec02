import { downwardAPI } from './downward-files.ts';
import { emptyDir } from './empty-dir.ts';
import { hostPath } from './host-path.ts';
import { image } from './image.ts';
import { configMap, secret } from './objects.ts';
import { claimed, csi } from './persistent.ts';
import { projected } from './projected.ts';
import type { Volume, VolumeKind } from './types.ts';
import { FinalVolumeError } from './types.ts';

/** By the field of a volume that names its source. */
const kinds: Readonly<Record<string, VolumeKind>> = {
  configMap,
  csi,
  downwardAPI,
  emptyDir,
  ephemeral: claimed,
  hostPath,
  image,
  persistentVolumeClaim: claimed,
  projected,
  secret,
};

/** The kind of a volume; of one that the agent does not mount yet, a kind that says so. */
export function kindOf(volume: Volume): VolumeKind {
  const sources = sourcesOf(volume);
  const [source = 'emptyDir'] = sources; // as in the reference, a volume without a source is an empty one
  return (Object.hasOwn(kinds, source) ? kinds[source] : undefined) ?? unsupported(source);
}

/** The kind that has such a folder below `volumes`. */
export function kindOfPlugin(plugin: string): VolumeKind | undefined {
  return Object.values(kinds).find((kind) => kind.plugin === plugin);
}

function sourcesOf(volume: Volume): string[] {
  return Object.entries(volume).flatMap(([name, value]) =>
    name === 'name' || value === undefined ? [] : [name],
  );
}

function unsupported(source: string): VolumeKind {
  const refuse = async () => {
    throw new FinalVolumeError(`this agent does not mount volumes of the kind ${source} yet`);
  };
  return { isForeign: true, setUp: refuse, pathOf: refuse };
}
