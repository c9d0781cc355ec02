import { formatBytes, formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Check } from '../types.ts';
import { failed, ok, unknown, warning } from '../types.ts';
import { isAtLeast } from '../versions.ts';

interface Swap {
  readonly path: string;
  readonly bytes: number;
  /** Compressed in memory, never on a disk. */
  readonly inMemory: boolean;
}

/** The files and devices that the kernel swaps to (proc_swaps(5)). */
export function listActiveSwap(host: Pick<Host, 'read'>): Swap[] {
  const lines = host.read('/proc/swaps')?.trim().split('\n').slice(1) ?? [];
  return lines.map((line) => {
    const [path = '', , kibibytes = ''] = line.split(/\s+/);
    return { path, bytes: Number(kibibytes) * 1024, inMemory: path.startsWith('/dev/zram') };
  });
}

/** `isRefused`: the agent does not start with any (failSwapOn). */
export const createSwapCheck = (isRefused: boolean): Check => ({
  id: 'swap',
  topic: 'memory',
  title: 'swap',
  needed: 'none, or a kernel that keeps secrets out of it',
  fast: true,
  run(host) {
    if (host.read('/proc/swaps') === undefined) return unknown('/proc/swaps cannot be read');
    const swaps = listActiveSwap(host);
    if (swaps.length === 0) return ok('none is in use');
    const found = formatList(swaps.map(({ path, bytes }) => `${path} (${formatBytes(bytes)})`));
    if (isRefused)
      return failed(
        `${found}; the agent does not start with it (failSwapOn)`,
        'switch it off (swapoff -a and /etc/fstab), or set failSwapOn: false',
      );
    if (swaps.every(({ inMemory }) => inMemory)) return ok(`${found}: compressed memory, not a disk`);
    if (isAtLeast(host.kernelRelease, '6.3')) return ok(found);
    return warning(
      found,
      'switch it off (swapoff -a and /etc/fstab): pods have no limits of it, and secrets may reach the disk',
    );
  },
});
