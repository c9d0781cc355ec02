import { ExitError, exitCodes } from '../../base/index.ts';
import type { PodSettings } from '../config/index.ts';
import type { Host } from '../doctor/index.ts';
import { listActiveSwap, usesVersion1 } from '../doctor/index.ts';

/** Throws an ExitError where the machine is what the configuration refuses. */
export function checkMachine(refuses: PodSettings['refuses'], host: Pick<Host, 'read'>): void {
  const swaps = refuses.swap ? listActiveSwap(host).map(({ path }) => path) : [];
  if (swaps.length > 0) {
    const todo = 'switch it off (swapoff -a and /etc/fstab), or set failSwapOn: false';
    throw refuse(`running with swap on is not supported (${swaps.join(', ')}): ${todo}`);
  }
  if (refuses.cgroupV1 && usesVersion1(host)) {
    const todo = 'start the kernel with systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false';
    throw refuse(`this machine has version 1 of control groups, which failCgroupV1 refuses: ${todo}`);
  }
}

const refuse = (message: string) => new ExitError(exitCodes.configuration, message);
