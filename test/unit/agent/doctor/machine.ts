/** Machines that are none: prepared folders of /proc, /sys and others, and programs that say what they are told to. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Host, ProgramResult } from '../../../../src/agent/doctor/host.ts';
import { createKernelReader } from '../../../../src/agent/doctor/host.ts';
import { inspectPath } from '../../../../src/agent/doctor/inspect-path.ts';
import type { Check, Finding } from '../../../../src/agent/doctor/types.ts';
import { temporaryFolder } from '../../../support/index.ts';

export interface MachineOptions {
  /** Default 6.12.0. */
  kernel?: string;
  /** Default 0. */
  user?: number;
  /** Path and content; a content that begins with `-> ` makes a link. Beside those of a machine of today. */
  files?: Record<string, string | undefined>;
  /** What a command line that begins so does; a program that is not mentioned does not exist. */
  programs?: Record<string, Partial<ProgramResult>>;
  /** Wall clock; default 2026-01-01. */
  nowMs?: number;
  awakeMs?: number;
}

export interface Machine extends AsyncDisposable {
  readonly host: Host;
  readonly root: string;
  run(checks: readonly Check[], id: string): Promise<Finding>;
}

export const newYear = Date.parse('2026-01-01T00:00:00Z');

/** cgroup v2, seccomp, AppArmor, no swap. */
const today: Record<string, string> = {
  'proc/self/mountinfo':
    '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n24 22 0:5 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n',
  'proc/self/status': 'Name:\tnode\nSeccomp:\t2\n',
  'proc/self/ns/user': '-> user:[4026531837]',
  'proc/self/ns/pid': '-> pid:[1]',
  'proc/self/ns/time': '-> time:[2]',
  'proc/self/ns/mnt': '-> mnt:[3]',
  'proc/swaps': 'Filename\tType\tSize\tUsed\tPriority\n',
  'proc/uptime': '1000.00 900.00\n',
  'proc/sys/user/max_user_namespaces': '15000\n',
  'proc/sys/kernel/seccomp/actions_avail': 'kill_process kill_thread trap errno user_notif trace log allow\n',
  'proc/sys/kernel/random/boot_id': 'boot-1\n',
  ...Object.fromEntries(
    [
      'ip_local_reserved_ports',
      'tcp_keepalive_time',
      'tcp_keepalive_intvl',
      'tcp_keepalive_probes',
      'tcp_fin_timeout',
      'tcp_syncookies',
    ].map((name) => [`proc/sys/net/ipv4/${name}`, '1\n']),
  ),
  'sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory pids\n',
  'sys/fs/cgroup/cpu.stat': 'usage_usec 1\n',
  'sys/fs/cgroup/system.slice/cgroup.type': 'domain\n',
  'sys/fs/cgroup/system.slice/cgroup.freeze': '0\n',
  'sys/module/apparmor/parameters/enabled': 'Y\n',
  'sys/kernel/security/apparmor/profiles': 'a (enforce)\nb (enforce)\n',
};

export async function makeMachine(options: MachineOptions = {}): Promise<Machine> {
  const folder = await temporaryFolder('machine-');
  const { path: root } = folder;
  for (const [name, content] of Object.entries({ ...today, ...options.files })) {
    if (content === undefined) continue;
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    if (content.startsWith('-> ')) await symlink(content.slice(3), path);
    else await writeFile(path, content);
  }
  const programs = Object.entries(options.programs ?? {});
  const host: Host = {
    ...createKernelReader(root),
    kernelRelease: options.kernel ?? '6.12.0',
    user: options.user ?? 0,
    env: { PATH: '/usr/bin' },
    clock: { now: () => options.nowMs ?? newYear },
    awakeMs: () => options.awakeMs ?? 1_000_000,
    inspectPath: async (what) => {
      const orElse = what.orElse?.map((path) => join(root, path)) ?? [];
      const looked = inspectPath({ ...what, path: join(root, what.path), orElse });
      if ('fault' in looked) return looked;
      const inside = (path: string) => path.slice(root.length) || '/';
      return {
        found: { ...looked.found, path: inside(looked.found.path), realPath: inside(looked.found.realPath) },
      };
    },
    exec: async (command, argv) => {
      const line = [command, ...argv].join(' ');
      const ran = programs.find(([start]) => line.startsWith(start))?.[1];
      return ran && { code: 0, output: '', ...ran };
    },
  };
  return {
    host,
    root,
    async run(checks, id) {
      const check = checks.find((each) => each.id === id);
      if (check === undefined) throw new Error(`there is no check ${id}`);
      return await check.run(host, new AbortController().signal);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
