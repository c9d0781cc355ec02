import { formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { notApplicable, ok, unknown, warning } from '../types.ts';

/** With their numbers (capabilities(7)). */
const wanted = [
  ['CAP_CHOWN', 0n],
  ['CAP_DAC_OVERRIDE', 1n],
  ['CAP_FOWNER', 3n],
  ['CAP_FSETID', 4n],
  ['CAP_SYS_ADMIN', 21n],
] as const;

const advice =
  'under systemd: install without --without-pods, which adds the drop-in pods.conf; a drop-in that names paths must sort before it';

/**
 * Whether an agent may do for pods what root may: mount where the runtime sees it, and make files of other users. `agent` is its
 * folder in /proc, undefined where none runs.
 */
export function createPodRightsCheck(
  agent: (host: Host, signal: AbortSignal) => Promise<string | undefined>,
): Check {
  return {
    id: 'pod-rights',
    topic: 'pods',
    title: 'rights of the agent to run pods',
    needed: `${wanted.map(([name]) => name).join(', ')}, and the mounts of the machine`,
    fast: true,
    run: async (host, signal) => {
      const folder = await agent(host, signal);
      return folder === undefined ? notApplicable('no agent runs') : judge(host, folder);
    },
  };
}

function judge(host: Host, folder: string): Finding {
  const status = host.read(`${folder}/status`) ?? '';
  const [, user] = /^Uid:\t\d+\t(\d+)/m.exec(status) ?? [];
  const [, mask] = /^CapEff:\t([0-9a-f]+)/m.exec(status) ?? [];
  if (user === undefined || mask === undefined) return unknown(`${folder}/status does not tell`);
  if (user !== '0') return notApplicable(`the agent is not root (user ${user}); pods need root`);
  const has = BigInt(`0x${mask}`);
  const missing = wanted.filter(([, bit]) => ((has >> bit) & 1n) === 0n).map(([name]) => name);
  if (missing.length > 0) return warning(`it lacks ${formatList(missing, wanted.length)}`, advice);
  if (hasOwnMounts(host, folder))
    return warning('it has mounts of its own, which the runtime does not see', advice);
  return ok('all of them');
}

/** Those of a service that systemd keeps to itself follow the machine's, but what is mounted there stays there. */
function hasOwnMounts(host: Host, folder: string): boolean {
  const [own, first] = [folder, '/proc/1'].map((each) => host.link(`${each}/ns/mnt`));
  if (own !== undefined && own === first) return false; // the second is hidden from a service
  const lines = (host.read(`${folder}/mountinfo`) ?? '').split('\n').map((line) => line.split(' '));
  const root = lines.findLast(([, , , , point]) => point === '/');
  return root?.some((word) => word.startsWith('master:')) ?? false;
}
