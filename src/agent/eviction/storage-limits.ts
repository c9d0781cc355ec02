import type { Pod } from '../../api/index.ts';
import { podLimits } from '../../api/index.ts';
import { formatBytes } from '../node/index.ts';
import type { Layout } from './file-systems.ts';
import { diskUseOf } from './rank.ts';
import type { PodUse } from './types.ts';
import { bytesOf, canonical } from './words.ts';

/** The limits of local storage, by the names that the reference has for them in its metrics. */
export type StorageLimit = 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';

export interface Excess {
  readonly limit: StorageLimit;
  /** Word for word as in the reference. */
  readonly message: string;
}

type Spec = NonNullable<Pod['spec']>;
const resource = 'ephemeral-storage';

/** Whether the pod or a part of it has a limit of local storage: only then is it worth a walk through its folders. */
export function hasStorageLimit({ spec }: Pod): boolean {
  return (
    sizedFolders(spec).length > 0 ||
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(
      ({ resources }) => resources?.limits?.[resource] !== undefined,
    )
  );
}

/** The first limit that it is above: those of volumes, of the whole pod, of its containers. */
export function findExcess(pod: Pod, use: PodUse, layout: Layout): Excess | undefined {
  return ofVolumes(pod, use) ?? ofPod(pod, use) ?? ofContainers(pod, use, layout);
}

function sizedFolders(spec: Spec | undefined) {
  return (spec?.volumes ?? []).flatMap(({ name, emptyDir }) => {
    const { sizeLimit } = emptyDir ?? {};
    return sizeLimit === undefined || bytesOf(sizeLimit) <= 0 ? [] : [{ name, sizeLimit }];
  });
}

function ofVolumes({ spec }: Pod, { volumes }: PodUse): Excess | undefined {
  const above = sizedFolders(spec).find(({ name, sizeLimit }) => {
    const used = volumes.find((volume) => volume.name === name)?.bytes ?? 0;
    return used > bytesOf(sizeLimit);
  });
  if (above === undefined) return undefined;
  const { name, sizeLimit } = above;
  const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(canonical(sizeLimit))}. `;
  return { limit: 'emptydirfs.limit', message };
}

/** All its containers together, with its volumes, against the sum of the limits of those that have one. */
function ofPod(pod: Pod, use: PodUse): Excess | undefined {
  const limit = podLimits(pod, { withOverhead: false }).get(resource);
  if (limit === undefined) return undefined;
  const { bytes } = diskUseOf(use, ['layers', 'logs', 'volumes']);
  if (BigInt(Math.trunc(bytes)) * 1_000_000_000n <= limit) return undefined;
  const total = formatSum(pod, limit);
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. `;
  return { limit: 'ephemeralpodfs.limit', message };
}

/** On a file system of its own the writable layer does not count, as in the reference: what is limited is that of the node. */
function ofContainers({ spec }: Pod, { containers }: PodUse, layout: Layout): Excess | undefined {
  for (const { name, layer, logs } of containers) {
    const found = spec?.containers?.find((each) => each.name === name);
    const limit = found?.resources?.limits?.[resource] ?? '0';
    const used = (logs?.bytes ?? 0) + (layout === 'shared' ? (layer?.bytes ?? 0) : 0);
    if (bytesOf(limit) <= 0 || used <= bytesOf(limit)) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(canonical(limit))}. `;
    return { limit: 'ephemeralcontainerfs.limit', message };
  }
  return undefined;
}

/** In the family of suffixes of the first limit. */
function formatSum({ spec }: Pod, billionths: bigint): string {
  const bytes = Number((billionths + 999_999_999n) / 1_000_000_000n);
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const first = containers.find(({ resources }) => bytesOf(resources?.limits?.[resource] ?? '0') > 0);
  const isBinary = first?.resources?.limits?.[resource]?.endsWith('i') ?? true;
  return isBinary ? formatBytes(bytes) : canonical(String(bytes));
}
