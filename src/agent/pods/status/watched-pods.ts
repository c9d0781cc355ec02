import type { Pod } from '../../../api/index.ts';
import { fullName } from '../names.ts';
import type { PodSource } from '../types.ts';
import type { PodName } from './lane.ts';

/** Returns what finds a pod of the source by its name. Each list of the source is indexed once. */
export function createPodFinder(source: Pick<PodSource, 'pods'>): (name: PodName) => Pod | undefined {
  let indexed: readonly Pod[] = [];
  let byName = new Map<string, Pod>();
  return ({ namespace, name }) => {
    const now = source.pods();
    if (now !== indexed) byName = new Map(now.map((pod) => [fullName(pod), pod]));
    indexed = now;
    return byName.get(`${namespace}/${name}`);
  };
}
