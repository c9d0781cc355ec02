import { describeError, errorCode, readRegularFile } from '../../../base/index.ts';
import type { HostAppArmor } from '../index.ts';

/** A profile loaded into the kernel. */
export interface AppArmorProfile {
  readonly name: string;
  /** The kernel's word: `enforce`, `complain`, `kill`, `unconfined` … */
  readonly mode: string;
}

export interface AppArmorProfiles {
  /** Whether AppArmor is enabled on the host. */
  readonly enabled: boolean;
  /** Also empty when the list cannot be read. */
  readonly profiles: readonly AppArmorProfile[];
  /** Why the list is not known, or that AppArmor is not enabled; absent otherwise. */
  readonly problem?: string;
}

const enabledFile = 'sys/module/apparmor/parameters/enabled';
const profilesFile = 'sys/kernel/security/apparmor/profiles';
const limitBytes = 4 * 1024 * 1024;

/** Reads the names of the AppArmor profiles that are loaded on this host; nothing is cached. Never throws. */
export async function readAppArmorProfiles(root = '/'): Promise<AppArmorProfiles> {
  const enabled = await readText(`${root}${enabledFile}`, 16).catch(() => '');
  if (enabled.trim() !== 'Y')
    return { enabled: false, profiles: [], problem: 'AppArmor is not enabled on the host' };
  try {
    return { enabled: true, profiles: parseProfiles(await readText(`${root}${profilesFile}`, limitBytes)) };
  } catch (error) {
    return { enabled: true, profiles: [], problem: describeFailure(error) };
  }
}

/** The same for `resolveAppArmor`: when the names cannot be read the runtime decides. */
export async function readHostAppArmor(root = '/'): Promise<HostAppArmor> {
  const { enabled, profiles, problem } = await readAppArmorProfiles(root);
  if (!enabled || problem !== undefined) return { enabled };
  return { enabled, loaded: new Set(profiles.map(({ name }) => name)) };
}

async function readText(path: string, limit: number): Promise<string> {
  return (await readRegularFile(path, { limitBytes: limit })).toString('utf8');
}

function describeFailure(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return `/${profilesFile} is missing: mount securityfs on /sys/kernel/security`;
  if (code === 'EACCES' || code === 'EPERM')
    return `/${profilesFile} cannot be read: that needs root and the capability CAP_MAC_ADMIN`;
  return describeError(error);
}

/** Each line is `name (mode)`; a name may contain spaces and parentheses. */
function parseProfiles(text: string): AppArmorProfile[] {
  return text.split('\n').flatMap((line) => {
    const [, name, mode] = /^(.+) \((\w+)\)$/.exec(line) ?? [];
    return name === undefined || mode === undefined ? [] : [{ name, mode }];
  });
}
