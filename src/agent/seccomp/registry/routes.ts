import type { AgentRoute } from '../../server/index.ts';
import { sendJson } from '../../server/index.ts';
import { readAppArmorProfiles } from './app-armor.ts';
import type { SeccompRegistryService } from './registry.ts';
import { toSeccompStatus } from './status.ts';

/**
 * `/seccomp`: the node's seccomp profiles with the containers that use them; `/apparmor`: the AppArmor profiles loaded into
 * the kernel.
 */
export function seccompRoutes(
  folder: string,
  registry: SeccompRegistryService,
  appArmor: typeof readAppArmorProfiles = readAppArmorProfiles,
): readonly AgentRoute[] {
  return [
    {
      path: '/seccomp',
      subresource: 'seccomp',
      methods: { GET: ({ reply }) => sendJson(reply, 200, toSeccompStatus(folder, registry)) },
    },
    {
      path: '/apparmor',
      subresource: 'apparmor',
      methods: { GET: async ({ reply }) => sendJson(reply, 200, await appArmor()) },
    },
  ];
}
