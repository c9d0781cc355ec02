import { describeError, errorCode, readRegularFile } from '../../../base/index.ts';
import type { HostAppArmor } from '../index.ts';

/** A profile that the kernel has loaded. */
export interface AppArmorProfile {
  readonly name: string;
  /** `enforce`, `complain`, `kill`, `unconfined` … as the kernel says. */
  readonly mode: string;
}

export interface AppArmorProfiles {
  /** Whether the host has AppArmor, switched on. */
  readonly enabled: boolean;
  /** Empty also where they are not known. */
  readonly profiles: readonly AppArmorProfile[];
  /** Why they are not known, or that there are none; absent where they are. */
  readonly problem?: string;
}

const enabledFile = 'sys/module/apparmor/parameters/enabled';
const profilesFile = 'sys/kernel/security/apparmor/profiles';
const limitBytes = 4 * 1024 * 1024;

/** The AppArmor profiles that are loaded on this host, by name only; read anew each time. Never throws. */
export async function loadedAppArmorProfiles(root = '/'): Promise<AppArmorProfiles> {
  const enabled = await readText(`${root}${enabledFile}`, 16).catch(() => '');
  if (enabled.trim() !== 'Y')
    return { enabled: false, profiles: [], problem: 'AppArmor is not enabled on the host' };
  try {
    return { enabled: true, profiles: parseProfiles(await readText(`${root}${profilesFile}`, limitBytes)) };
  } catch (error) {
    return { enabled: true, profiles: [], problem: whyNot(error) };
  }
}

/** The same for `resolveAppArmor`: where the names cannot be seen the runtime decides. */
export async function hostAppArmor(root = '/'): Promise<HostAppArmor> {
  const { enabled, profiles, problem } = await loadedAppArmorProfiles(root);
  if (!enabled || problem !== undefined) return { enabled };
  return { enabled, loaded: new Set(profiles.map(({ name }) => name)) };
}

async function readText(path: string, limit: number): Promise<string> {
  return (await readRegularFile(path, { limitBytes: limit })).toString('utf8');
}

function whyNot(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return `/${profilesFile} is missing: mount securityfs on /sys/kernel/security`;
  if (code === 'EACCES' || code === 'EPERM')
    return `/${profilesFile} cannot be read: that needs root and the capability CAP_MAC_ADMIN`;
  return describeError(error);
}

/** `name (mode)` in each line; a name may have blanks and brackets of its own. */
function parseProfiles(text: string): AppArmorProfile[] {
  return text.split('\n').flatMap((line) => {
    const [, name, mode] = /^(.+) \((\w+)\)$/.exec(line) ?? [];
    return name === undefined || mode === undefined ? [] : [{ name, mode }];
  });
}
