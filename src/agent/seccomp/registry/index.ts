/** The node's seccomp profiles, their state and the pods that use them; the AppArmor profiles that are loaded. */
export { type AppArmorProfiles, readAppArmorProfiles, readHostAppArmor } from './app-armor.ts';
export { createProfileFinder, type FinderOptions } from './find-profile.ts';
export type { ProfileUse } from './profile-uses.ts';
export { type SeccompRegistryOptions, SeccompRegistryService } from './registry.ts';
export { seccompRoutes } from './routes.ts';

export type { ProfileChange, RegisteredProfile, SeccompRegistry, Verdict } from './types.ts';
