import { leaseKind } from '../../../src/api/index.ts';
import { waitFor } from '../../support/index.ts';
import type { Member } from './servers.ts';

const leader = { namespace: 'kube-system', name: 'nodeward-controllers' };

/** Who runs the controllers, and as whom; waits until somebody does. */
export async function leaderOf(members: readonly Member[]): Promise<{ member: Member; holder: string }> {
  return await waitFor(
    'a leader',
    async () => {
      for (const member of members) {
        if (member.isUp && /leading: the controllers run here/.test(member.log)) {
          await using client = member.client();
          const lease = await client.get(leaseKind, leader.name, leader);
          const holder = lease.spec?.holderIdentity;
          if (holder !== undefined && member.log.includes(holder)) return { member, holder };
        }
      }
      return undefined;
    },
    { timeoutMs: 30_000 },
  );
}
