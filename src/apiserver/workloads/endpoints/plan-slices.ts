import { isDeepStrictEqual } from 'node:util';
import type { Endpoint, EndpointSlice, Pod, Service } from '../../../api/index.ts';
import { isHeadless } from '../../../api/index.ts';
import type { Family, KnownEndpoint, SlicePort } from './pod-endpoints.ts';
import { familiesOf, toEndpoint } from './pod-endpoints.ts';

/** Labels and the annotation by which programs know slices, and who keeps them. */
export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const headlessLabel = 'service.kubernetes.io/headless';
/** As the reference's controller calls itself: it goes on with these slices when it takes over. */
export const sliceManager = 'endpointslice-controller.k8s.io';

/** As in the reference. */
export const maxEndpointsInSlice = 100;

/** What is to be written so that the slices of a service say where its pods are. */
export interface SlicePlan {
  /** Without names. */
  readonly create: readonly EndpointSlice[];
  /** As they are to be stored; the metadata are those of what is stored, with other labels. */
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
}

/** What the slices of something are like. */
export interface SliceForm {
  readonly families: readonly Family[];
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined: those of a slice stay as they are. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Whether every family has a slice, if an empty one: by it clients tell a service without endpoints from one that is not
   * known yet.
   */
  readonly isNeverAbsent: boolean;
}

/** What a family with its ports needs, and what there is of it. */
interface Group {
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly wanted: Map<string, Endpoint>;
  readonly slices: EndpointSlice[];
}

/**
 * Plans the slices of a service with a selector. `slices`: those that we keep for the service. `zoneOf`: of a node, by its
 * name.
 */
export function planSlices(
  service: Service,
  pods: readonly Pod[],
  slices: readonly EndpointSlice[],
  zoneOf: (nodeName: string) => string | undefined,
): SlicePlan {
  const form = { families: familiesOf(service), labels: labelsOf(service), isNeverAbsent: true };
  const endpointsIn = (family: Family) =>
    pods.flatMap((pod) => toEndpoint(service, pod, family, zoneOf(pod.spec?.nodeName ?? '')) ?? []);
  return planForm(form, endpointsIn, slices);
}

/**
 * Plans slices with certain endpoints. An endpoint stays in the slice where it is; slices that are full get no more, and none
 * is written that stays as it is.
 */
export function planForm(
  form: SliceForm,
  endpointsIn: (family: Family) => readonly KnownEndpoint[],
  slices: readonly EndpointSlice[],
): SlicePlan {
  const { families } = form;
  const obsolete = slices.filter(({ addressType }) => !families.some((family) => family === addressType));
  const plan: OpenPlan = { create: [], update: [], delete: [...obsolete] };
  for (const family of families) {
    const own = slices.filter(({ addressType }) => addressType === family);
    planFamily(form, family, groupsOf(family, endpointsIn(family), own), own, plan);
  }
  return plan;
}

type OpenPlan = { [K in keyof SlicePlan]: EndpointSlice[] };

function keyOfPorts(ports: readonly SlicePort[]): string {
  const parts = ports.map(({ name = '', protocol = 'TCP', port = 0, appProtocol = '' }) =>
    JSON.stringify([name, protocol, port, appProtocol]),
  );
  return parts.sort().join();
}

function groupsOf(
  family: Family,
  endpoints: readonly KnownEndpoint[],
  slices: readonly EndpointSlice[],
): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const { endpoint, ports } of endpoints) {
    const key = keyOfPorts(ports);
    const group = groups.get(key) ?? { family, ports, wanted: new Map(), slices: [] };
    groups.set(key, group);
    group.wanted.set(idOf(endpoint), endpoint);
  }
  for (const slice of slices) groups.get(keyOfPorts(slice.ports ?? []))?.slices.push(slice);
  return groups;
}

function idOf({ targetRef, addresses }: Endpoint): string {
  return [targetRef?.uid, ...addresses].join();
}

function planFamily(
  form: SliceForm,
  family: Family,
  groups: ReadonlyMap<string, Group>,
  slices: readonly EndpointSlice[],
  plan: OpenPlan,
): void {
  const used = new Set([...groups.values()].flatMap((group) => planGroup(form, group, plan)));
  const unused = slices.filter((slice) => !used.has(slice));
  if (groups.size > 0 || !form.isNeverAbsent) {
    plan.delete.push(...unused);
    return;
  }
  const [kept, ...others] = unused;
  plan.delete.push(...others);
  if (kept === undefined) plan.create.push(sliceOf(form, family, [], []));
  else update(form, kept, [], [], plan);
}

/** Returns the slices that stay. */
function planGroup(
  form: SliceForm,
  { family, ports, wanted, slices }: Group,
  plan: OpenPlan,
): EndpointSlice[] {
  const kept = slices.map((slice) => {
    const endpoints = (slice.endpoints ?? []).flatMap((endpoint) => {
      const now = wanted.get(idOf(endpoint));
      wanted.delete(idOf(endpoint));
      return now === undefined ? [] : [now];
    });
    return { slice, endpoints };
  });
  const left = [...wanted.values()];
  for (const { endpoints } of kept) endpoints.push(...left.splice(0, maxEndpointsInSlice - endpoints.length));
  const staying = kept.filter(({ endpoints }) => endpoints.length > 0);
  for (const { slice, endpoints } of staying) update(form, slice, endpoints, ports, plan);
  while (left.length > 0) plan.create.push(sliceOf(form, family, left.splice(0, maxEndpointsInSlice), ports));
  return staying.map(({ slice }) => slice);
}

function update(
  form: SliceForm,
  slice: EndpointSlice,
  endpoints: readonly Endpoint[],
  ports: readonly SlicePort[],
  plan: OpenPlan,
): void {
  const { labels, annotations = slice.metadata?.annotations } = form;
  const samePorts = keyOfPorts(slice.ports ?? []) === keyOfPorts(ports);
  const isSame =
    samePorts &&
    isDeepStrictEqual(slice.endpoints ?? [], endpoints) &&
    isDeepStrictEqual(slice.metadata?.labels, labels) &&
    isDeepStrictEqual(slice.metadata?.annotations ?? {}, annotations ?? {});
  if (isSame) return;
  const metadata = { ...slice.metadata, labels, ...(annotations === undefined ? {} : { annotations }) };
  plan.update.push({
    ...slice,
    metadata,
    endpoints: [...endpoints],
    ports: samePorts ? (slice.ports ?? []) : [...ports],
  });
}

function sliceOf(
  { labels, annotations }: SliceForm,
  addressType: Family,
  endpoints: readonly Endpoint[],
  ports: readonly SlicePort[],
): EndpointSlice {
  return {
    metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
    addressType,
    endpoints: [...endpoints],
    ports: [...ports],
  };
}

/** Those of the service, with those by which its slices are found. */
function labelsOf({ metadata, spec = {} }: Service): Record<string, string> {
  const { [headlessLabel]: _headless, ...labels } = metadata?.labels ?? {};
  return {
    ...labels,
    ...(isHeadless(spec) ? { [headlessLabel]: '' } : {}),
    [serviceNameLabel]: metadata?.name ?? '',
    [managedByLabel]: sliceManager,
  };
}
