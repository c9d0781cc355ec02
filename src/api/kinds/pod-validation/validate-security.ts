import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooLongValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '../pods/types.ts';
import { checkDescendingPath, checkUserId, oneOfIfSet } from './formats.ts';

/* Security contexts: the privileges of containers. */

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** Validates the security context of the pod, for all its containers. */
export function podSecurityCauses(spec: PodSpec, path: string): Cause[] {
  const context: PodSecurityContext = spec.securityContext ?? {};
  return [
    ...idCauses(`${path}.fsGroup`, context.fsGroup),
    ...idCauses(`${path}.runAsUser`, context.runAsUser),
    ...idCauses(`${path}.runAsGroup`, context.runAsGroup),
    ...causesOf(context.supplementalGroups, (group, index) =>
      idCauses(`${path}.supplementalGroups[${index}]`, group),
    ),
    ...(spec.shareProcessNamespace && spec.hostPID
      ? [
          invalidValue(
            `${path}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...sysctlCauses(context.sysctls, `${path}.sysctls`),
    ...oneOfIfSet(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']),
    ...seccompCauses(context.seccompProfile, `${path}.seccompProfile`),
    ...appArmorCauses(context.appArmorProfile, `${path}.appArmorProfile`),
    ...oneOfIfSet(`${path}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, ['Merge', 'Strict']),
    ...oneOfIfSet(`${path}.seLinuxChangePolicy`, context.seLinuxChangePolicy, ['MountOption', 'Recursive']),
    ...hostUsersCauses(spec),
  ];
}

/** A pod with its own user namespace cannot share other namespaces of the node. */
function hostUsersCauses(spec: PodSpec): Cause[] {
  if (spec.hostUsers !== false) return [];
  return (['hostNetwork', 'hostPID', 'hostIPC'] as const)
    .filter((name) => spec[name])
    .map((name) => forbiddenValue(`spec.${name}`, 'when `pod.Spec.HostUsers` is false'));
}

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlLimit = 253;

function sysctlCauses(sysctls: PodSecurityContext['sysctls'], path: string): Cause[] {
  const earlier = new Set<string>();
  return causesOf(sysctls, ({ name }, index) => {
    const at = `${path}[${index}].name`;
    const again = earlier.has(name);
    earlier.add(name);
    if (name === '') return [requiredValue(at)];
    if (name.length > sysctlLimit || !sysctlName.test(name)) {
      const wrong = `must have at most ${sysctlLimit} characters and match regex ${sysctlName.source}`;
      return [invalidValue(at, name, wrong)];
    }
    return again ? [duplicateValue(at, name)] : [];
  });
}

/** Validates the security context of one container. */
export function securityCauses(
  context: SecurityContext | undefined,
  path: string,
  hostUsers: boolean,
): Cause[] {
  if (context === undefined) return [];
  const unmasked = context.procMount === 'Unmasked' && hostUsers;
  return [
    ...idCauses(`${path}.runAsUser`, context.runAsUser),
    ...idCauses(`${path}.runAsGroup`, context.runAsGroup),
    ...oneOfIfSet(`${path}.procMount`, context.procMount, ['Default', 'Unmasked']),
    ...(unmasked
      ? [invalidValue(`${path}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...seccompCauses(context.seccompProfile, `${path}.seccompProfile`),
    ...escalationCauses(context, path),
    ...appArmorCauses(context.appArmorProfile, `${path}.appArmorProfile`),
  ];
}

function escalationCauses(context: SecurityContext, path: string): Cause[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const wrong = 'cannot set `allowPrivilegeEscalation` to false and';
  return [
    ...(context.privileged ? [invalidValue(path, context, `${wrong} \`privileged\` to true`)] : []),
    ...(context.capabilities?.add?.includes('CAP_SYS_ADMIN')
      ? [invalidValue(path, context, `${wrong} \`capabilities.Add\` CAP_SYS_ADMIN`)]
      : []),
  ];
}

function idCauses(field: string, id: number | undefined): Cause[] {
  return id === undefined ? [] : invalidUnless(field, id, checkUserId(id));
}

function typeCauses(field: string, type: string, of: string): Cause[] {
  if (type === '') return [requiredValue(field, `type is required when ${of} is set`)];
  return profileTypes.includes(type) ? [] : [unsupportedValue(field, type, profileTypes)];
}

/** A profile of the node is named if and only if one is used (specification, section 2.8). */
function seccompCauses(profile: SeccompProfile | undefined, path: string): Cause[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  return [
    ...typeCauses(`${path}.type`, type, 'seccompProfile'),
    ...localhostCauses(type, localhostProfile, `${path}.localhostProfile`),
  ];
}

function localhostCauses(type: string, profile: string | undefined, field: string): Cause[] {
  if (type !== 'Localhost') {
    if (profile === undefined) return [];
    return [invalidValue(field, profile, 'can only be set when seccomp type is Localhost')];
  }
  if (profile === undefined) return [requiredValue(field, 'must be set when seccomp type is Localhost')];
  return invalidUnless(field, profile, checkDescendingPath(profile));
}

const appArmorLimit = 4095;

function appArmorCauses(profile: AppArmorProfile | undefined, path: string): Cause[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  const wrongType = typeCauses(`${path}.type`, type, 'appArmorProfile');
  if (wrongType.length > 0) return wrongType;
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return [];
    return [invalidValue(field, localhostProfile, 'can only be set when AppArmor type is Localhost')];
  }
  const name = localhostProfile?.trim() ?? '';
  if (localhostProfile !== undefined && name !== localhostProfile)
    return [invalidValue(field, localhostProfile, 'must not be padded with whitespace')];
  if (name === '') return [requiredValue(field, 'must be set when AppArmor type is Localhost')];
  return Buffer.byteLength(name) > appArmorLimit ? [tooLongValue(field, appArmorLimit)] : [];
}
