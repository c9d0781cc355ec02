import type { Host } from '../host.ts';
import type { RuntimeReport } from '../runtime-report.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, notApplicable, ok, unknown, warning } from '../types.ts';
import { isAtLeast, parseVersion } from '../versions.ts';
import { listActiveSwap } from './swap.ts';

/** The rest of the kernel table (specification, section 8): tried where that is harmless, else judged by the version. */
export function createFeatureChecks(runtime: () => Promise<RuntimeReport>): Check[] {
  return [nftablesCheck, createReadOnlyMountsCheck(runtime), createUserNamespacesCheck(runtime), tmpfsNoswap];
}

/** The version alone proves nothing: distributions backport features to earlier kernels. */
const reportUntried = (host: Host) =>
  unknown(`kernel ${host.kernelRelease}; whether it has this from a later one could not be tried`, asRoot);

const formatByVersion = (host: Host) => `kernel ${host.kernelRelease}, by its version`;

const nftablesCheck: Check = {
  id: 'nftables',
  topic: 'kernel',
  title: 'service proxy in nftables mode',
  needed: 'the tool nft 1.0.1 or later and kernel 5.13 or later',
  async run(host, signal) {
    const ran = await host.exec('nft', ['--version'], signal);
    const version = /v(\d[\d.]*)/.exec(ran?.output ?? '')?.[1];
    if (version === undefined) return notApplicable('the tool nft is not installed');
    const found = `nft ${version}, kernel ${host.kernelRelease}`;
    if (!isAtLeast(version, '1.0.1'))
      return warning(found, 'install nft 1.0.1 or later, or use another mode of the service proxy');
    if (isAtLeast(host.kernelRelease, '5.13')) return ok(found);
    if (!isAtLeast(host.kernelRelease, '5.4'))
      return warning(found, 'update the kernel, or use another mode of the service proxy');
    return warning(
      found,
      'update the kernel to 5.13 or later; nftables.skipKernelVersionCheck of the proxy is not for production',
    );
  },
};

function createReadOnlyMountsCheck(runtime: () => Promise<RuntimeReport>): Check {
  return {
    id: 'recursive-read-only-mounts',
    topic: 'kernel',
    title: 'recursive read-only mounts',
    needed: 'mount_setattr (kernel 5.12 or later)',
    fast: true,
    async run(host, signal) {
      const { features } = await runtime();
      if (features?.recursiveReadOnly) return ok('the runtime has tried it and offers it');
      const pattern = ' (__[a-z0-9]+_)?sys_mount_setattr$';
      const ran = await host.exec('grep', ['-qE', pattern, '/proc/kallsyms'], signal);
      if (ran?.code === 0) return ok('the kernel has the system call mount_setattr');
      if (isAtLeast(host.kernelRelease, '5.12')) return ok(formatByVersion(host));
      if (ran?.code !== 1) return reportUntried(host);
      const advice = 'update the kernel to 5.12 or later, or use no recursive read-only mounts';
      return warning(`kernel ${host.kernelRelease} without mount_setattr`, advice);
    },
  };
}

function createUserNamespacesCheck(runtime: () => Promise<RuntimeReport>): Check {
  return {
    id: 'pod-user-namespaces',
    topic: 'kernel',
    title: 'user namespaces for pods',
    needed: 'user namespaces with id-mapped mounts (kernel 6.5 or later)',
    fast: true,
    async run(host) {
      const off = judgeNamespaceLimit(host);
      if (off !== undefined) return off;
      const { features } = await runtime();
      if (features?.userNamespaces) return ok('the runtime has tried it and offers it');
      if (isAtLeast(host.kernelRelease, '6.5')) return ok(formatByVersion(host));
      return warning(
        `kernel ${host.kernelRelease}`,
        'update the kernel to 6.5 or later, or keep pods with hostUsers: false away',
      );
    },
  };
}

function judgeNamespaceLimit(host: Host): Finding | undefined {
  if (host.link('/proc/self/ns/user') === undefined)
    return warning('the kernel has no user namespaces', 'use a kernel with CONFIG_USER_NS');
  const limit = host.read('/proc/sys/user/max_user_namespaces')?.trim();
  if (limit !== '0') return undefined;
  return warning('user.max_user_namespaces is 0', 'raise it: sysctl user.max_user_namespaces=15000');
}

const tmpfsNoswap: Check = {
  id: 'tmpfs-noswap',
  topic: 'kernel',
  title: 'tmpfs that is never swapped',
  needed: 'the option noswap of tmpfs (kernel 6.3 or later) where swap is on',
  fast: true,
  async run(host, signal) {
    const has = await hasNoswap(host, signal);
    const how = has.tried ? 'tried in a mount namespace of its own' : formatByVersion(host);
    if (has.noswap) return ok(how);
    if (listActiveSwap(host).length === 0)
      return notApplicable(`it is missing (${how}), but no swap is in use`);
    if (!has.tried) return reportUntried(host);
    return warning(
      `missing (${how}), and swap is in use`,
      'update the kernel to 6.3 or later, or switch swap off: secrets in memory could be written to disk',
    );
  },
};

/** Mounts in a private mount namespace, which goes with the program. */
async function hasNoswap(host: Host, signal: AbortSignal): Promise<{ noswap: boolean; tried: boolean }> {
  const [major = 0] = parseVersion(host.kernelRelease);
  const expected = major > 0 && isAtLeast(host.kernelRelease, '6.3') === true;
  if (host.user !== 0) return { noswap: expected, tried: false };
  const mount = ['mount', '-n', '-t', 'tmpfs', '-o', 'noswap,size=64k', 'nodeward-doctor', '/sys'];
  const ran = await host.exec('unshare', ['--mount', '--propagation', 'private', ...mount], signal);
  if (ran?.code === 0) return { noswap: true, tried: true };
  const refused = /bad option|unknown parameter|invalid argument/i.test(ran?.output ?? '');
  return refused ? { noswap: false, tried: true } : { noswap: expected, tried: false };
}
