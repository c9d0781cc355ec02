import type { EndpointSubset, Endpoints, Pod, Service } from '../../../api/index.ts';
import { isHeadless } from '../../../api/index.ts';
import { headlessLabel } from './plan-slices.ts';
import type { SlicePort } from './pod-endpoints.ts';
import {
  addressOfPod,
  familiesOf,
  hostnameOf,
  portsOfPod,
  referenceOf,
  takesTraffic,
} from './pod-endpoints.ts';

/** Who keeps the Endpoints, as the reference's controller calls itself. */
export const endpointsManagerLabel = 'endpoints.kubernetes.io/managed-by';
export const endpointsManager = 'endpoint-controller';
/** Says that not all pods are there. */
export const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
/** As in the reference. */
export const maxAddresses = 1000;

type Address = NonNullable<EndpointSubset['addresses']>[number];

interface Entry {
  readonly ready: boolean;
  readonly address: Address;
  readonly ports: readonly SlicePort[];
}

/** The Endpoints of a service, in its first family; pods with the same ports make one subset. `before`: as they are stored. */
export function endpointsOf(
  service: Service,
  pods: readonly Pod[],
  before: Endpoints | undefined,
): Endpoints {
  const all = pods.flatMap((pod) => entryOf(service, pod) ?? []);
  const kept = withinCapacity(all);
  const groups = Map.groupBy(kept, ({ ports }) => JSON.stringify(ports));
  const subsets = [...groups.values()].map(subsetOf);
  const { [overCapacityAnnotation]: _over, ...annotations } = before?.metadata?.annotations ?? {};
  if (kept.length < all.length) annotations[overCapacityAnnotation] = 'truncated';
  const { annotations: _before, ...metadata } = before?.metadata ?? {};
  return {
    ...before,
    metadata: {
      ...metadata,
      labels: labelsOf(service),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    subsets,
  };
}

function entryOf(service: Service, pod: Pod): Entry | undefined {
  const [family] = familiesOf(service);
  const ip = family && addressOfPod(pod, family);
  const isEnding = pod.metadata?.deletionTimestamp !== undefined;
  if (ip === undefined || (isEnding && service.spec?.publishNotReadyAddresses !== true)) return undefined;
  const ports = portsOfPod(service, pod);
  if (ports.length === 0 && (service.spec?.ports ?? []).length > 0) return undefined;
  const hostname = hostnameOf(service, pod);
  const nodeName = pod.spec?.nodeName;
  const address: Address = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName ? { nodeName } : {}),
    targetRef: referenceOf(pod),
  };
  return { ready: takesTraffic(service, pod), address, ports };
}

/** Of too many, those that are ready are kept first. */
function withinCapacity(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length <= maxAddresses) return entries;
  const byReadiness = [...entries.filter(({ ready }) => ready), ...entries.filter(({ ready }) => !ready)];
  return byReadiness.slice(0, maxAddresses);
}

function subsetOf(entries: readonly Entry[]): EndpointSubset {
  const addressesOf = (ready: boolean) =>
    entries
      .filter((entry) => entry.ready === ready)
      .map(({ address }) => address)
      .sort((one, other) => (one.ip < other.ip ? -1 : 1));
  const [addresses, notReadyAddresses] = [addressesOf(true), addressesOf(false)];
  const ports = (entries[0]?.ports ?? []).map(({ name = '', port = 0, ...others }) => ({
    ...(name === '' ? {} : { name }),
    port,
    ...others,
  }));
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports }),
  };
}

function labelsOf({ metadata, spec = {} }: Service): Record<string, string> {
  const { [headlessLabel]: _headless, ...labels } = metadata?.labels ?? {};
  return {
    ...labels,
    ...(isHeadless(spec) ? { [headlessLabel]: '' } : {}),
    [endpointsManagerLabel]: endpointsManager,
  };
}
