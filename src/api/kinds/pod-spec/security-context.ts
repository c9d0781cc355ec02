import { bool, field, int64, list, required, string, struct } from '../../schema/index.ts';
import { pointer } from './wire.ts';

/* Security contexts: the privileges of containers. */

export const seLinuxOptions = struct('SELinuxOptions', {
  user: field(1, string, 'User of the label.'),
  role: field(2, string, 'Role of the label.'),
  type: field(3, string, 'Type of the label.'),
  level: field(4, string, 'Level of the label.'),
});

const windowsSecurityContextOptions = struct('WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: field(1, string, 'Name of the credential to use.', pointer),
  gmsaCredentialSpec: field(2, string, 'The credential itself.', pointer),
  runAsUserName: field(3, string, 'User to run as.', pointer),
  hostProcess: field(4, bool, 'Whether it runs as a process of the host.', pointer),
});

export const seccompProfile = struct('SeccompProfile', {
  type: required(1, string, 'Localhost, RuntimeDefault or Unconfined.'),
  localhostProfile: field(2, string, 'Relative path of a profile of the node; with Localhost only.', pointer),
});

export const appArmorProfile = struct('AppArmorProfile', {
  type: required(1, string, 'Localhost, RuntimeDefault or Unconfined.'),
  localhostProfile: field(2, string, 'Name of a profile of the node; with Localhost only.', pointer),
});

export const capabilities = struct('Capabilities', {
  add: field(1, list(string), 'Capabilities to have.'),
  drop: field(2, list(string), 'Capabilities not to have.'),
});

export const securityContext = struct('SecurityContext', {
  capabilities: field(1, capabilities, 'Capabilities to have or not to have.'),
  privileged: field(2, bool, 'Whether the container may do all that root on the host may.', pointer),
  seLinuxOptions: field(3, seLinuxOptions, 'SELinux label.'),
  windowsOptions: field(10, windowsSecurityContextOptions, 'Settings for Windows.'),
  runAsUser: field(4, int64, 'UID to run as.', pointer),
  runAsGroup: field(8, int64, 'GID to run as.', pointer),
  runAsNonRoot: field(5, bool, 'Whether UID 0 is refused.', pointer),
  readOnlyRootFilesystem: field(6, bool, 'Whether the root file system is read-only.', pointer),
  allowPrivilegeEscalation: field(
    7,
    bool,
    'Whether a process may gain more rights than its parent.',
    pointer,
  ),
  procMount: field(9, string, 'Default or Unmasked.', pointer),
  seccompProfile: field(11, seccompProfile, 'Seccomp profile.'),
  appArmorProfile: field(12, appArmorProfile, 'AppArmor profile.'),
});

export const sysctl = struct('Sysctl', {
  name: required(1, string, 'Name of the kernel parameter.'),
  value: required(2, string, 'Value to set.'),
});

export const podSecurityContext = struct('PodSecurityContext', {
  seLinuxOptions: field(1, seLinuxOptions, 'SELinux label of all containers.'),
  windowsOptions: field(8, windowsSecurityContextOptions, 'Settings for Windows.'),
  runAsUser: field(2, int64, 'UID that containers run as.', pointer),
  runAsGroup: field(6, int64, 'GID that containers run as.', pointer),
  runAsNonRoot: field(3, bool, 'Whether UID 0 is refused.', pointer),
  supplementalGroups: field(4, list(int64), 'Further groups of the first process of each container.'),
  supplementalGroupsPolicy: field(12, string, 'Merge with the groups of the image, or Strict.', pointer),
  fsGroup: field(5, int64, 'Group that owns the volumes.', pointer),
  sysctls: field(7, list(sysctl), 'Kernel parameters of the pod.'),
  fsGroupChangePolicy: field(9, string, 'Always, or OnRootMismatch: when the volume is chowned.', pointer),
  seccompProfile: field(10, seccompProfile, 'Seccomp profile of all containers.'),
  appArmorProfile: field(11, appArmorProfile, 'AppArmor profile of all containers.'),
  seLinuxChangePolicy: field(13, string, 'MountOption or Recursive: how volumes get their label.', pointer),
});
