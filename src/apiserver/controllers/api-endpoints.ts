import { isIPv4 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Service as ApiService, EndpointSlice, Endpoints } from '../../api/index.ts';
import { endpointSliceKind, endpointsKind, serviceKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Resource } from '../registry/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable, isUnreadable } from './presence.ts';
import { ignoreRace } from './races.ts';

/** Where other machines reach a server. */
export interface ServerAddress {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

export interface ApiEndpointsOptions extends ControllerOptions {
  /** All servers on this store that are up, with the addresses that are known of them. */
  servers(): Promise<readonly ServerAddress[]>;
}

const context = { user: controlPlaneUser, dryRun: false };
const [namespace, name] = ['default', 'kubernetes'];
const serviceNameLabel = 'kubernetes.io/service-name';
const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
/** Nobody makes slices of these Endpoints: they are made here. */
const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
const lookMs = 10_000;

/**
 * Keeps the Endpoints and EndpointSlices of the Service `kubernetes`: by them proxies and DNS servers lead to the API. While no
 * server says where others reach it, such as one that serves its own machine only, what is there stays as it is.
 */
export function apiEndpoints(options: ApiEndpointsOptions): Service {
  const { registry, storage, clock } = options;
  const services = registry.of(serviceKind);
  const endpoints = registry.of(endpointsKind);
  const slices = registry.of(endpointSliceKind);
  const key = services.prefix(namespace) + name;

  async function work(): Promise<void> {
    const stored = findReadable(storage, key);
    if (stored === undefined || !isKept(services.encoding.read(stored))) return;
    const servers = await options.servers();
    if (servers.length === 0) return;
    await keep(endpoints, name, (now) => endpointsOf(servers, now));
    const wanted = new Map(slicesOf(servers).map((slice) => [slice.metadata?.name ?? '', slice]));
    for (const { metadata: { name: own = '', uid = '' } = {}, addressType } of ownSlices())
      if (wanted.get(own)?.addressType !== addressType)
        await slices.delete(namespace, own, { uid }, context).catch(ignoreRace);
    for (const [own, slice] of wanted) await keep(slices, own, (now) => sliceOf(slice, now));
  }

  /** Creates what is not there, and writes what is different; what cannot be read stays. */
  async function keep<T extends Endpoints | EndpointSlice>(
    resource: Resource<T>,
    own: string,
    make: (now: T | undefined) => T,
  ): Promise<void> {
    const ownKey = resource.prefix(namespace) + own;
    const stored = findReadable(storage, ownKey);
    if (stored === undefined) {
      if (!isUnreadable(storage, ownKey))
        await resource.create(namespace, make(undefined), context).catch(ignoreRace);
      return;
    }
    const now = resource.encoding.read(stored);
    const next = make(now);
    if (isDeepStrictEqual(now, next)) return;
    await resource.update(namespace, own, next, '', context).catch(ignoreRace);
  }

  /** Those of this controller have no manager's label, as in the reference. */
  function ownSlices(): EndpointSlice[] {
    return storage
      .list(slices.prefix(namespace), '', 0)
      .items.map((stored) => slices.encoding.read(stored))
      .filter(({ metadata: { labels = {}, name: own = '' } = {} }) => {
        const isNamed = own === name || own.startsWith(`${name}-`);
        return isNamed && labels[serviceNameLabel] === name && labels[managedByLabel] === undefined;
      });
  }

  return controller('api-endpoints', options, (enqueue) => {
    const look = () => enqueue(key);
    const onChange = (resource: Pick<Resource, 'placeOf'>) => (changed: string) =>
      resource.placeOf(changed).name.startsWith(name) && look();
    const followed = (resource: Resource<ApiService> | Resource<Endpoints> | Resource<EndpointSlice>) => {
      const on = onChange(resource);
      return {
        resource,
        namespace,
        ...followWritten(on),
        gone: (previous: { key: string }) => on(previous.key),
      };
    };
    return {
      follows: [followed(services), followed(endpoints), followed(slices)],
      work,
      beside: (signal) => [again(signal)],
    };

    /** Servers come and go. */
    async function again(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        look();
        await clock.sleep(lookMs, signal);
      }
    }
  });
}

/** Whether the Service is one of the API still: an operator may have made it another one. */
function isKept({ metadata, spec = {} }: ApiService): boolean {
  const hasSelector = Object.keys(spec.selector ?? {}).length > 0;
  return metadata?.deletionTimestamp === undefined && spec.type !== 'ExternalName' && !hasSelector;
}

function byPort(servers: readonly ServerAddress[]): [number, string[]][] {
  const groups = Map.groupBy(servers, ({ port }) => port);
  return [...groups]
    .map(([port, own]): [number, string[]] => [port, [...new Set(own.map(({ address }) => address))].sort()])
    .sort(([one], [other]) => one - other);
}

function portsOf(port: number) {
  return [{ name: 'https', port, protocol: 'TCP' }];
}

function endpointsOf(servers: readonly ServerAddress[], now: Endpoints | undefined): Endpoints {
  const labels = { ...now?.metadata?.labels, [skipMirrorLabel]: 'true' };
  const subsets = byPort(servers).map(([port, addresses]) => ({
    addresses: addresses.map((ip) => ({ ip })),
    ports: portsOf(port),
  }));
  return { ...now, metadata: { ...now?.metadata, name, namespace, labels }, subsets };
}

/** The first is named as in the reference, which has one only. */
function slicesOf(servers: readonly ServerAddress[]): EndpointSlice[] {
  const parts = byPort(servers).flatMap(([port, addresses]) =>
    [...Map.groupBy(addresses, (address) => (isIPv4(address) ? 'IPv4' : 'IPv6'))].map(([family, own]) => ({
      family,
      port,
      own,
    })),
  );
  return parts.map(({ family, port, own }, index) => ({
    metadata: { name: index === 0 ? name : `${name}-${family.toLowerCase()}-${port}`, namespace },
    addressType: family,
    endpoints: own.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: portsOf(port),
  }));
}

function sliceOf(wanted: EndpointSlice, now: EndpointSlice | undefined): EndpointSlice {
  const labels = { ...now?.metadata?.labels, [serviceNameLabel]: name };
  return { ...now, ...wanted, metadata: { ...now?.metadata, ...wanted.metadata, labels } };
}
