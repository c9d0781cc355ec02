/** The node's seccomp profiles as they are, and who uses them; the AppArmor profiles that are loaded. */
export { type AppArmorProfiles, hostAppArmor, loadedAppArmorProfiles } from './app-armor.ts';
export { type FinderOptions, profileFinder } from './find-profile.ts';
export type { ProfileUse } from './in-use.ts';
export {
  createSeccompRegistry,
  type SeccompRegistryOptions,
  type SeccompRegistryService,
} from './registry.ts';
export { seccompRoutes } from './routes.ts';
export type { ShownProfile } from './shown.ts';
export type { ProfileChange, RegisteredProfile, SeccompRegistry, Verdict } from './types.ts';
