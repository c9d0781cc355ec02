import type { Amounts, ApiObject, Kind, PersistentVolumeClaim, Pod, Service } from '../../../api/index.ts';
import {
  billionths,
  classInAnnotation,
  persistentVolumeClaimKind,
  podHasEnded,
  podKind,
  podLimits,
  podRequests,
  qualifiedResource,
  serviceKind,
} from '../../../api/index.ts';

/*
 * What objects take of the quotas of their namespace, as the reference counts it: billionths by the name that a quota uses. Of
 * every kind the objects are counted (`count/RESOURCE.GROUP`); pods, services and claims take more.
 */

type Quantities = Readonly<Record<string, string>>;

const one = 1_000_000_000n;

/** Kinds whose objects are counted by their plain name, too. */
const countedPlainly = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'];
const podResources = new Set([
  ...['pods', 'cpu', 'memory', 'ephemeral-storage'],
  ...['requests.cpu', 'requests.memory', 'requests.ephemeral-storage'],
  ...['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
]);
const serviceResources = ['services', 'services.nodeports', 'services.loadbalancers'];
const claimResources = ['persistentvolumeclaims', 'requests.storage'];
const ofClass = '.storageclass.storage.k8s.io/';

/** Whether objects of a kind count for a resource of a quota. */
export function takes(kind: Kind, groupSuffix: string, name: string): boolean {
  if (name === countName(kind, groupSuffix)) return true;
  if (isKind(kind, podKind)) return isPodResource(name);
  if (isKind(kind, serviceKind)) return serviceResources.includes(name);
  if (isKind(kind, persistentVolumeClaimKind))
    return claimResources.includes(name) || claimResources.some((each) => name.endsWith(ofClass + each));
  return kind.group === '' && kind.resource === name && countedPlainly.includes(name);
}

/** Also those with a prefix: huge pages, and other resources as `requests.vendor.example/thing`. */
function isPodResource(name: string): boolean {
  if (podResources.has(name) || /^(?:requests\.)?hugepages-/.test(name)) return true;
  return name.startsWith('requests.') && name.includes('/');
}

/** What an object takes. Pods that have ended, or should have gone, take nothing but their count. */
export function usageOf<T extends ApiObject>(
  kind: Kind<T>,
  object: T,
  groupSuffix: string,
  nowMs: number,
): Amounts {
  const usage = new Map([[countName(kind, groupSuffix), one]]);
  if (isA(podKind, kind, object)) addAll(usage, podUsage(object, nowMs));
  else if (isA(serviceKind, kind, object)) addAll(usage, serviceUsage(object));
  else if (isA(persistentVolumeClaimKind, kind, object)) addAll(usage, claimUsage(object));
  else if (takes(kind, groupSuffix, kind.resource)) usage.set(kind.resource, one);
  return usage;
}

/** Whether a write can be refused because of a quota; what other writes take is only counted. */
export function isCharged(kind: Kind, isNew: boolean, subresource: string): boolean {
  if (isNew) return true;
  if (isKind(kind, podKind)) return subresource === 'resize';
  return subresource === '' && (isKind(kind, serviceKind) || isKind(kind, persistentVolumeClaimKind));
}

/** A kind is the same whatever its objects are taken for. */
function isKind(kind: Kind, other: Kind): boolean {
  return kind === other;
}

export function isA<T extends ApiObject>(wanted: Kind<T>, kind: Kind, object: ApiObject): object is T {
  return Object.is(kind, wanted) && object !== undefined;
}

function countName(kind: Kind, groupSuffix: string): string {
  return `count/${qualifiedResource(kind, groupSuffix)}`;
}

export function addAll(sum: Map<string, bigint>, more: Amounts): void {
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0n) + amount);
}

function podUsage(pod: Pod, nowMs: number): Amounts {
  if (podHasEnded(pod) || isOverdue(pod, nowMs)) return new Map();
  const actual = withActualResources(pod);
  const requests = podRequests(actual, { withOverhead: true });
  return new Map([
    ['pods', one],
    ...requestUsage(requests),
    ...[...podLimits(actual, { withOverhead: true })]
      .filter(([name]) => podResources.has(`limits.${name}`))
      .map(([name, amount]): [string, bigint] => [`limits.${name}`, amount]),
  ]);
}

function requestUsage(requests: Amounts): [string, bigint][] {
  return [...requests].flatMap(([name, amount]): [string, bigint][] => {
    const isPlain = podResources.has(name) || name.startsWith('hugepages-');
    const isCounted = isPlain || (name.includes('/') && !name.includes('kubernetes.io/'));
    return [
      ...(isPlain ? [[name, amount] as [string, bigint]] : []),
      ...(isCounted ? [[`requests.${name}`, amount] as [string, bigint]] : []),
    ];
  });
}

/** Its node had twice the time to end it. */
function isOverdue({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } = {} }: Pod, nowMs: number) {
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return nowMs > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

/** While a resize has not ended, a container takes the larger of what it has and what is wanted. */
function withActualResources(pod: Pod): Pod {
  const { spec, status } = pod;
  const resizing = ['PodResizePending', 'PodResizeInProgress'];
  if (spec === undefined || !status?.conditions?.some(({ type }) => resizing.includes(type))) return pod;
  const containers = spec.containers.map((container) => {
    const actual = status.containerStatuses?.find(({ name }) => name === container.name)?.resources;
    const { requests, limits } = container.resources ?? {};
    const resources = {
      ...container.resources,
      requests: largerOf(requests, actual?.requests),
      limits: largerOf(limits, actual?.limits),
    };
    return { ...container, resources };
  });
  return { ...pod, spec: { ...spec, containers } };
}

function largerOf(wanted: Quantities = {}, actual: Quantities = {}): Record<string, string> {
  const larger: Record<string, string> = { ...wanted };
  for (const [name, quantity] of Object.entries(actual))
    if (larger[name] !== undefined && billionths(quantity) > billionths(larger[name]))
      larger[name] = quantity;
  return larger;
}

function serviceUsage({ spec = {} }: Service): Amounts {
  const { type, ports = [], allocateLoadBalancerNodePorts = true } = spec;
  const isBalanced = type === 'LoadBalancer';
  const nodePorts =
    type === 'NodePort' || (isBalanced && allocateLoadBalancerNodePorts)
      ? ports.length
      : isBalanced
        ? ports.filter(({ nodePort = 0 }) => nodePort > 0).length
        : 0;
  return new Map([
    ['services', one],
    ['services.nodeports', BigInt(nodePorts) * one],
    ['services.loadbalancers', isBalanced ? one : 0n],
  ]);
}

/** What is being made of the volume counts while it is more than what is asked for. */
function claimUsage(claim: PersistentVolumeClaim): Amounts {
  const asked = claim.spec?.resources?.requests?.['storage'];
  const allocated = claim.status?.allocatedResources?.['storage'];
  const [size, made] = [asked, allocated].map((quantity) => billionths(quantity ?? '0'));
  const storage = size !== undefined && made !== undefined && made > size ? made : (size ?? 0n);
  const plain: [string, bigint][] = [
    ['persistentvolumeclaims', one],
    ...(asked === undefined ? [] : [['requests.storage', storage] as [string, bigint]]),
  ];
  const name = classInAnnotation(claim) ?? claim.spec?.storageClassName;
  const byClass = name
    ? plain.map(([each, amount]): [string, bigint] => [name + ofClass + each, amount])
    : [];
  return new Map([...plain, ...byClass]);
}

/** Resources of which every container must say what it takes when a quota counts them. */
const mustBeSaid: Readonly<Record<string, readonly ['requests' | 'limits', string]>> = {
  cpu: ['requests', 'cpu'],
  memory: ['requests', 'memory'],
  'requests.cpu': ['requests', 'cpu'],
  'requests.memory': ['requests', 'memory'],
  'limits.cpu': ['limits', 'cpu'],
  'limits.memory': ['limits', 'memory'],
};

/** `must specify cpu for: a,b; limits.memory for: b`: what a pod does not say although a quota counts it. */
export function findUnsaid(kind: Kind, object: ApiObject, names: Iterable<string>): string | undefined {
  if (!isA(podKind, kind, object)) return undefined;
  const { containers = [], initContainers = [], resources: whole } = object.spec ?? {};
  const parts = [...names].toSorted().flatMap((name) => {
    const [what, resource] = mustBeSaid[name] ?? [];
    if (what === undefined || resource === undefined || whole?.[what]?.[resource] !== undefined) return [];
    const silent = [...containers, ...initContainers]
      .filter(({ resources }) => resources?.[what]?.[resource] === undefined)
      .map((container) => container.name);
    return silent.length === 0 ? [] : [`${name} for: ${silent.toSorted().join(',')}`];
  });
  return parts.length === 0 ? undefined : `must specify ${parts.join('; ')}`;
}
