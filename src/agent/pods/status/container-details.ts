import { posix } from 'node:path';
import { billionths } from '../../../api/index.ts';
import type { PodRecord } from '../plan/index.ts';
import { givenTo } from '../plan/index.ts';
import type { ContainerView } from '../view/types.ts';
import type { Container, ContainerStatus } from './pod-parts.ts';

/* What the status of a container says beside its state. */

type Details = Pick<
  ContainerStatus,
  'resources' | 'allocatedResources' | 'user' | 'volumeMounts' | 'stopSignal'
>;
type Quantities = Record<string, string>;

/** Of a container that the runtime has. */
export function detailsOf(spec: Container, view: ContainerView, record: PodRecord): Details {
  const requests = spec.resources?.requests ?? {};
  const resources = resourcesOf(spec, view, record);
  const volumeMounts = volumeMountsOf(spec, view);
  return {
    ...(Object.keys(requests).length === 0 ? {} : { allocatedResources: requests }),
    ...(resources === undefined ? {} : { resources }),
    ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
    ...(view.stopSignal === undefined ? {} : { stopSignal: view.stopSignal }),
    ...(view.user === undefined ? {} : { user: { linux: userOf(view.user) } }),
  };
}

function userOf({ uid, gid, supplementalGroups }: NonNullable<ContainerView['user']>) {
  const isAny = supplementalGroups.length > 0;
  return { uid, gid, ...(isAny ? { supplementalGroups: [...supplementalGroups] } : {}) };
}

/**
 * What the container was given, with what is in force by the runtime while it runs. Where containers are resized, an empty one says
 * that this one can be.
 */
function resourcesOf(
  { name, resources = {} }: Container,
  view: ContainerView,
  record: PodRecord,
): ContainerStatus['resources'] {
  const isResizing = record.allocation?.containers[name] !== undefined;
  const { limits, requests } = isResizing ? givenTo(record, name, view.attempt).own : resources;
  const { claims } = resources;
  const isNone = limits === undefined && requests === undefined && claims === undefined;
  if (isNone && !isResizing) return undefined;
  const inForce = view.state === 'running' ? view.resources : undefined;
  return {
    ...(limits === undefined ? {} : { limits: { ...limits, ...limitsInForce(limits, inForce) } }),
    ...(requests === undefined ? {} : { requests: { ...requests, ...requestsInForce(requests, inForce) } }),
    ...(claims === undefined ? {} : { claims }),
  };
}

type InForce = ContainerView['resources'];

/** The kernel gives no container less, so a smaller request cannot be read back. */
const minShares = 2;
const minQuotaUs = 1000;
const sharesPerCpu = 1024;

function limitsInForce(limits: Quantities, inForce: InForce): Quantities {
  if (inForce === undefined) return {};
  const { cpuQuota, cpuPeriod, memoryLimitBytes } = inForce;
  const isCpuKnown = limits['cpu'] !== undefined && cpuQuota > minQuotaUs && cpuPeriod > 0;
  const isMemoryKnown = limits['memory'] !== undefined && memoryLimitBytes > 0;
  return {
    ...(isCpuKnown ? withCpu(limits['cpu'], Math.round((cpuQuota * 1000) / cpuPeriod)) : {}),
    ...(isMemoryKnown ? { memory: keepSpelling(limits['memory'], memoryLimitBytes) } : {}),
  };
}

function requestsInForce(requests: Quantities, inForce: InForce): Quantities {
  const { cpu } = requests;
  if (cpu === undefined || inForce === undefined || inForce.cpuShares <= minShares) return {};
  const isAsWished =
    Math.floor((Number(billionths(cpu) / 1_000_000n) * sharesPerCpu) / 1000) === inForce.cpuShares;
  return isAsWished ? { cpu } : withCpu(cpu, Math.ceil((inForce.cpuShares * 1000) / sharesPerCpu));
}

function withCpu(wished: string | undefined, millis: number): Quantities {
  const isAsWished = wished !== undefined && billionths(wished) === BigInt(millis) * 1_000_000n;
  return { cpu: isAsWished ? wished : millis % 1000 === 0 ? String(millis / 1000) : `${millis}m` };
}

/** As the spec writes it, where that is the same amount. */
function keepSpelling(wished: string | undefined, bytes: number): string {
  const isSame = wished !== undefined && billionths(wished) === BigInt(bytes) * 1_000_000_000n;
  return isSame ? wished : String(bytes);
}

function volumeMountsOf(spec: Container, view: ContainerView): NonNullable<Details['volumeMounts']> {
  return (spec.volumeMounts ?? []).map(({ name, mountPath, readOnly = false }) => {
    const mount = view.mounts.find(({ containerPath }) => samePath(containerPath, mountPath));
    const isRecursive = mount?.isRecursiveReadOnly === true;
    return {
      name,
      mountPath,
      ...(readOnly ? { readOnly, recursiveReadOnly: isRecursive ? 'Enabled' : 'Disabled' } : {}),
    };
  });
}

function samePath(a: string, b: string): boolean {
  return posix.resolve('/', a) === posix.resolve('/', b);
}
