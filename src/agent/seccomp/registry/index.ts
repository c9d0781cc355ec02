/** The node's seccomp profiles, their state and the pods that use them; the AppArmor profiles that are loaded. */
export { readAppArmorProfiles, readHostAppArmor } from './app-armor.ts';
export { createProfileFinder } from './find-profile.ts';
export { type SeccompRegistryOptions, SeccompRegistryService } from './registry.ts';
export { seccompRoutes } from './routes.ts';

export type { RegisteredProfile, SeccompRegistry } from './types.ts';
