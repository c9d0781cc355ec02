import { formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { notApplicable, ok, unknown, warning } from '../types.ts';
import { isAtLeast } from '../versions.ts';

/*
 * A pod may set these sysctls only where each network namespace has its own (specification, section 8). The host's
 * namespace has all of them on every kernel, so the check lists those of a new namespace.
 */

interface Row {
  readonly id: string;
  readonly names: readonly string[];
  readonly kernel: string;
}

const rows: readonly Row[] = [
  { id: 'sysctl-reserved-ports', names: ['ip_local_reserved_ports'], kernel: '3.16' },
  {
    id: 'sysctl-tcp-keepalive',
    names: ['tcp_keepalive_time', 'tcp_keepalive_intvl', 'tcp_keepalive_probes'],
    kernel: '4.5',
  },
  { id: 'sysctl-tcp-fin-timeout', names: ['tcp_fin_timeout'], kernel: '4.6' },
  { id: 'sysctl-tcp-syncookies', names: ['tcp_syncookies'], kernel: '4.6' },
];

export function createSysctlChecks(): Check[] {
  let listed: Promise<ReadonlySet<string> | undefined> | undefined;
  const inNewNamespace = (host: Host, signal: AbortSignal) => {
    listed ??= listSysctlsInNewNamespace(host, signal);
    return listed;
  };
  const checks = rows.map(
    (row): Check => ({
      id: row.id,
      topic: 'kernel',
      title: `sysctl net.ipv4.${row.names.join(', ')} in pods`,
      needed: `of its own in each network namespace (kernel ${row.kernel} or later)`,
      fast: true,
      run: async (host, signal) => judge(row, host, await inNewNamespace(host, signal)),
    }),
  );
  return [...checks, ipvsCheck];
}

/** Undefined where no namespace can be created. It goes with the program that lists it. */
async function listSysctlsInNewNamespace(
  host: Host,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const user = host.user === 0 ? [] : ['--user', '--map-root-user'];
  const ran = await host.exec('unshare', [...user, '--net', 'ls', '/proc/sys/net/ipv4'], signal);
  return ran?.code === 0 ? new Set(ran.output.split('\n')) : undefined;
}

function judge({ names, kernel }: Row, host: Host, inNew: ReadonlySet<string> | undefined): Finding {
  const advice = `update the kernel to ${kernel} or later, or keep pods that set ${formatList(names)} away`;
  const missing = names.filter((name) => host.read(`/proc/sys/net/ipv4/${name}`) === undefined);
  if (missing.length > 0) return warning(`missing: ${missing.join(', ')}`, advice);
  if (inNew !== undefined) {
    const shared = names.filter((name) => !inNew.has(name));
    if (shared.length === 0) return ok('seen in a new network namespace');
    return warning(`not in a new network namespace: ${shared.join(', ')}`, advice);
  }
  const byVersion = isAtLeast(host.kernelRelease, kernel);
  if (byVersion) return ok(`kernel ${host.kernelRelease}, by its version`);
  return unknown(
    `kernel ${host.kernelRelease}; whether it has this from a later one could not be tried`,
    'run this as root, with the program unshare (util-linux) installed',
  );
}

const ipvsCheck: Check = {
  id: 'sysctl-ipvs-conn-reuse',
  topic: 'kernel',
  title: 'sysctl net.ipv4.vs.conn_reuse_mode',
  needed: 'kernel 4.1 or later, for a service proxy in ipvs mode',
  fast: true,
  run(host) {
    if (host.read('/proc/sys/net/ipv4/vs/conn_reuse_mode') !== undefined) return ok('there');
    if (host.names('/proc/sys/net/ipv4/vs').length === 0) return notApplicable('ipvs is not in use');
    return warning('ipvs is in use and has no such sysctl', 'update the kernel to 4.1 or later');
  },
};
