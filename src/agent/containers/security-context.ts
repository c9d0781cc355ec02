import type { ContainerSpec, Pod } from '../../api/index.ts';
import { quotePod } from '../downward/index.ts';
import type { NamespaceOptions } from './namespaces.ts';
import type { ContainerInput } from './types.ts';
import { ContainerConfigError } from './types.ts';

type PodContext = NonNullable<NonNullable<Pod['spec']>['securityContext']>;
type OwnContext = NonNullable<ContainerSpec['securityContext']>;

const maxUserId = 2 ** 31 - 1;

/** Files of the kernel that tell of, or reach into, the whole machine. */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readOnlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** The rights of a container, its own settings before its pod's. Throws a ContainerConfigError when they contradict its image. */
export function securityContext(input: ContainerInput, own: OwnContext, namespaces: NamespaceOptions) {
  const ofPod = input.pod.spec?.securityContext ?? {};
  const isUnmasked = own.procMount === 'Unmasked';
  const selinux = own.seLinuxOptions ?? ofPod.seLinuxOptions;
  return {
    ...userOf(input, own, ofPod),
    ...(own.capabilities === undefined ? {} : { capabilities: toCapabilities(own.capabilities) }),
    privileged: own.privileged === true,
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    namespaceOptions: namespaces,
    ...(selinux === undefined ? {} : { selinuxOptions: toSeLinux(selinux) }),
    supplementalGroups: groupsOf(ofPod, input.volumeGroups),
    supplementalGroupsPolicy: groupsPolicyOf(ofPod),
    maskedPaths: isUnmasked ? [] : [...maskedPaths, ...(input.node.maskedPaths ?? [])],
    readonlyPaths: isUnmasked ? [] : readOnlyPaths,
    seccomp: { ...input.seccomp },
    ...(input.appArmor === undefined ? {} : { apparmor: { ...input.appArmor } }),
  };
}

/** The user of the pod's settings, else of the image, else root: the runtime refuses a group without a user. */
function userOf({ pod, container, image }: ContainerInput, own: OwnContext, ofPod: PodContext) {
  const asked = own.runAsUser ?? ofPod.runAsUser;
  const group = own.runAsGroup ?? ofPod.runAsGroup;
  const { uid, username = '' } = image.user;
  const ofImage = uid ?? (username === '' ? 0 : undefined);
  if ((own.runAsNonRoot ?? ofPod.runAsNonRoot) === true) {
    const problem = rootProblem(toNumber(asked), ofImage, username);
    if (problem !== undefined) {
      throw new ContainerConfigError(`${problem} (pod: ${quotePod(pod)}, container: ${container})`);
    }
  }
  const user = asked ?? ofImage;
  return {
    ...(user === undefined ? {} : { runAsUser: { value: BigInt(user) } }),
    ...(asked === undefined ? { runAsUsername: username } : {}),
    ...(group === undefined ? {} : { runAsGroup: { value: BigInt(group) } }),
  };
}

function rootProblem(
  asked: number | undefined,
  ofImage: number | undefined,
  username: string,
): string | undefined {
  if (asked !== undefined) return asked === 0 ? "container's runAsUser breaks non-root policy" : undefined;
  if (ofImage === undefined) {
    return `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root`;
  }
  if (ofImage === 0) return 'container has runAsNonRoot and image will run as root';
  if (ofImage > 0 && ofImage <= maxUserId) return undefined;
  const range = `must be between 0 and ${maxUserId}, inclusive`;
  return `container has runAsNonRoot and image has an invalid user id (${ofImage}). (Must be 1-(${maxUserId})): ${range}`;
}

function toNumber(value: number | bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function toCapabilities({ add = [], drop = [] }: NonNullable<OwnContext['capabilities']>) {
  return { addCapabilities: [...add], dropCapabilities: [...drop] };
}

export function toSeLinux(options: NonNullable<PodContext['seLinuxOptions']>) {
  const { user = '', role = '', type = '', level = '' } = options;
  return { user, role, type, level };
}

/** Groups of the first process: the one of the volumes first. */
export function groupsOf(
  { fsGroup, supplementalGroups = [] }: PodContext,
  volumeGroups: readonly number[],
): bigint[] {
  const all = [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups, ...volumeGroups];
  return [...new Set(all.map(BigInt))];
}

/** By the numbers of the CRI: 0 merges with the groups of the image, 1 does not. */
export function groupsPolicyOf({ supplementalGroupsPolicy }: PodContext): 0 | 1 {
  return supplementalGroupsPolicy === 'Strict' ? 1 : 0;
}
