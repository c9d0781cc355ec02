import { isIPv4 } from 'node:net';
import type { Endpoint, EndpointSlice, EndpointSubset, Endpoints } from '../../../api/index.ts';
import type { SlicePlan } from './plan-slices.ts';
import { managedByLabel, planForm, serviceNameLabel } from './plan-slices.ts';
import type { Family, KnownEndpoint, SlicePort } from './pod-endpoints.ts';

/*
 * Endpoints that clients write, for a service without a selector, are shown as EndpointSlices too: proxies and DNS
 * servers read nothing else. As the reference's endpointslicemirroring-controller does.
 */

/** As the reference's controller calls itself: it goes on with these slices when it takes over. */
export const mirrorManager = 'endpointslicemirroring-controller.k8s.io';
/** Who sets it to "true" on Endpoints makes slices of them otherwise, or wants none. */
export const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
/** Of Endpoints that are no endpoints: older programs elect their leaders with them. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
const changeTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Of a subset, as in the reference. */
export const maxMirrored = 1000;

export interface MirrorPlan extends SlicePlan {
  /** Addresses that are in no slice, because a subset has too many. */
  readonly skipped: number;
}

/** Plans the slices of Endpoints; undefined: there are none. `slices`: those that mirror them now. */
export function planMirror(endpoints: Endpoints | undefined, slices: readonly EndpointSlice[]): MirrorPlan {
  if (endpoints === undefined || !isMirrored(endpoints))
    return { create: [], update: [], delete: [...slices], skipped: 0 };
  const subsets = (endpoints.subsets ?? []).map(entriesOf);
  const kept = subsets.flatMap((entries) => entries.slice(0, maxMirrored));
  const plan = planForm(
    formOf(endpoints),
    (family) => kept.filter((each) => familyOf(each) === family),
    slices,
  );
  return {
    ...plan,
    skipped: subsets.reduce((sum, { length }) => sum + Math.max(0, length - maxMirrored), 0),
  };
}

function isMirrored({ metadata: { labels = {}, annotations = {} } = {} }: Endpoints): boolean {
  return labels[skipMirrorLabel] !== 'true' && annotations[leaderAnnotation] === undefined;
}

function formOf({ metadata = {} }: Endpoints) {
  const {
    [changeTimeAnnotation]: _time,
    [lastAppliedAnnotation]: _last,
    ...annotations
  } = metadata.annotations ?? {};
  const families: readonly Family[] = ['IPv4', 'IPv6'];
  const own = { [serviceNameLabel]: metadata.name ?? '', [managedByLabel]: mirrorManager };
  return { families, labels: { ...metadata.labels, ...own }, annotations, isNeverAbsent: false };
}

/** Those that are ready first. */
function entriesOf({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset): KnownEndpoint[] {
  const slicePorts = ports.map(
    ({ name = '', protocol = 'TCP', port = 0, appProtocol }): SlicePort => ({
      ...{ name, protocol, port },
      ...(appProtocol === undefined ? {} : { appProtocol }),
    }),
  );
  const toKnown = (ready: boolean) => (address: Address) => ({
    endpoint: toEndpoint(address, ready),
    ports: slicePorts,
  });
  return [...addresses.map(toKnown(true)), ...notReadyAddresses.map(toKnown(false))];
}

type Address = NonNullable<EndpointSubset['addresses']>[number];

function toEndpoint({ ip, hostname, nodeName, targetRef }: Address, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

function familyOf({ endpoint }: KnownEndpoint): Family {
  return isIPv4(endpoint.addresses[0] ?? '') ? 'IPv4' : 'IPv6';
}
