import type { EffectiveConfig } from '../../config/index.ts';
import type { ReservedGroup } from '../../resources/index.ts';
import { findReservedGroup, openCgroupTree } from '../../resources/index.ts';
import { formatList } from '../format.ts';
import type { Check, Finding } from '../types.ts';
import { failed, notApplicable, ok, unknown } from '../types.ts';

/** Whether the agent would start with what enforceNodeAllocatable says. `mountRoot` is `/sys/fs/cgroup`. */
export const createReservedGroupsCheck = (
  config: Pick<EffectiveConfig, 'enforcement'> | undefined,
  mountRoot: string,
): Check => ({
  id: 'reserved-cgroups',
  topic: 'cgroups',
  title: 'cgroups of what is reserved',
  needed: 'those of systemReservedCgroup and kubeReservedCgroup, where enforceNodeAllocatable has them',
  run() {
    if (config === undefined) return unknown('the configuration cannot be used');
    const { groups } = config.enforcement;
    if (groups.length === 0) return notApplicable('only pods are held to what is reserved');
    return judge(groups, mountRoot);
  },
});

function judge(groups: readonly ReservedGroup[], mountRoot: string): Finding {
  const tree = openCgroupTree(mountRoot);
  const problems = groups.flatMap((group) => {
    const found = findReservedGroup({ tree }, group);
    return 'problem' in found ? [found.problem] : [];
  });
  if (problems.length === 0) return ok(formatList(groups.map(({ cgroup }) => cgroup)));
  return failed(
    `the agent does not start: ${problems.join('; ')}`,
    'create it (a slice of systemd with something in it, or a folder), or change enforceNodeAllocatable',
  );
}
