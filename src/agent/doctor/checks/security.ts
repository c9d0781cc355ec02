import type { Check } from '../types.ts';
import { failed, notApplicable, ok, unknown, warning } from '../types.ts';

const actions = '/proc/sys/kernel/seccomp/actions_avail';
/** The actions that profiles use; kill_process and log came with kernel 4.14. */
const wanted = ['kill_process', 'errno', 'trap', 'log', 'allow'];

export const securityChecks: readonly Check[] = [
  {
    id: 'seccomp',
    topic: 'security',
    title: 'seccomp',
    needed: `filters, with the actions ${wanted.join(', ')}`,
    fast: true,
    run(host) {
      const status = host.read('/proc/self/status');
      if (status === undefined) return unknown('/proc/self/status cannot be read');
      if (!/^Seccomp:/m.test(status))
        return failed(
          'the kernel has no seccomp',
          'use a kernel with CONFIG_SECCOMP_FILTER: pods with a profile cannot run',
        );
      const text = host.read(actions);
      const advice = 'update the kernel to 4.14 or later: profiles with the missing actions are refused';
      if (text === undefined) return warning(`the kernel does not tell its actions (${actions})`, advice);
      const available = text.trim().split(/\s+/);
      const missing = wanted.filter((action) => !available.includes(action));
      if (missing.length > 0) return warning(`missing: ${missing.join(', ')}`, advice);
      return ok(available.join(', '));
    },
  },
  {
    id: 'apparmor',
    topic: 'security',
    title: 'AppArmor',
    needed: 'on, where pods name a profile of it',
    fast: true,
    run(host) {
      const enabled = host.read('/sys/module/apparmor/parameters/enabled')?.trim();
      if (enabled === undefined)
        return notApplicable('the kernel has none: pods that name a profile of it cannot run');
      if (enabled !== 'Y')
        return warning(
          'the kernel has it, switched off',
          'start the kernel with apparmor=1 security=apparmor',
        );
      const text = host.read('/sys/kernel/security/apparmor/profiles');
      if (text === undefined) return ok('on; which profiles are loaded cannot be seen from here');
      const count = text.split('\n').filter((line) => line !== '').length;
      return ok(`on, ${count} profiles loaded`);
    },
  },
  {
    id: 'user-namespaces',
    topic: 'security',
    title: 'user namespaces',
    needed: 'known to the kernel and not limited to none',
    fast: true,
    run(host) {
      if (host.link('/proc/self/ns/user') === undefined)
        return warning('the kernel has none', 'use a kernel with CONFIG_USER_NS, or run pods without them');
      const limit = host.read('/proc/sys/user/max_user_namespaces')?.trim();
      if (limit === undefined) return unknown('their limit cannot be read');
      if (limit === '0')
        return warning('user.max_user_namespaces is 0', 'raise it: sysctl user.max_user_namespaces=15000');
      return ok(`at most ${limit}`);
    },
  },
];
