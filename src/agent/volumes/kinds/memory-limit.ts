import type { Pod } from '../../../api/index.ts';
import { billionths } from '../../../api/index.ts';

type Container = Pick<
  NonNullable<NonNullable<Pod['spec']>['initContainers']>[number],
  'resources' | 'restartPolicy'
>;

/** The memory, in bytes, that a pod may use as a whole; undefined unless it is limited itself or each of its containers is. */
export function memoryLimitOf({ spec }: Pod): bigint | undefined {
  const ofPod = spec?.resources?.limits?.['memory'];
  if (ofPod !== undefined) return toBytes(ofPod);
  const { containers = [], initContainers = [] } = spec ?? {};
  const all: readonly Container[] = [...containers, ...initContainers];
  if (all.length === 0 || !all.every((each) => limitOf(each) > 0n)) return undefined;
  let sidecars = 0n;
  let most = 0n;
  for (const container of initContainers) {
    const beside = sidecars + limitOf(container);
    if (container.restartPolicy === 'Always') sidecars = beside;
    if (beside > most) most = beside;
  }
  const together = containers.reduce((sum, each) => sum + limitOf(each), sidecars);
  const overhead = toBytes(spec?.overhead?.['memory'] ?? '0');
  return (together > most ? together : most) + overhead;
}

const limitOf = ({ resources }: Container) => toBytes(resources?.limits?.['memory'] ?? '0');

const toBytes = (quantity: string) => billionths(quantity) / 1_000_000_000n;
