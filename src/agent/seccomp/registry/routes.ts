import type { AgentRoute } from '../../server/index.ts';
import { sendJson } from '../../server/index.ts';
import { loadedAppArmorProfiles } from './app-armor.ts';
import type { SeccompRegistryService } from './registry.ts';
import { shownStatus } from './shown.ts';

/** `/seccomp`: the node's seccomp profiles, and who names them; `/apparmor`: the names of those that the kernel has loaded. */
export function seccompRoutes(
  folder: string,
  registry: SeccompRegistryService,
  appArmor: typeof loadedAppArmorProfiles = loadedAppArmorProfiles,
): readonly AgentRoute[] {
  return [
    {
      path: '/seccomp',
      subresource: 'seccomp',
      methods: { GET: ({ reply }) => sendJson(reply, 200, shownStatus(folder, registry)) },
    },
    {
      path: '/apparmor',
      subresource: 'apparmor',
      methods: { GET: async ({ reply }) => sendJson(reply, 200, await appArmor()) },
    },
  ];
}
