import type { Cause, Service, ServicePort, ServiceSpec } from '../../../api/index.ts';
import {
  hasHealthCheckPort,
  hasNodePorts,
  invalid,
  invalidValue,
  isHeadless,
  StatusError,
  serviceKind,
} from '../../../api/index.ts';
import { settleFamilies } from './families.ts';
import type { Holdings } from './holdings.ts';
import { addressThing, portThing } from './holdings.ts';
import { keptOf, pickFree } from './pool.ts';
import type { ServiceRanges } from './ranges.ts';
import { AddressRange } from './ranges.ts';

/** A service that is about to be written, with what has been chosen for it and is not held yet. */
interface Draft {
  service: Service;
  /** A copy that may be changed. */
  spec: ServiceSpec;
  before: ServiceSpec;
  key: string;
  chosen: Set<number>;
}

/**
 * Gives services their addresses and their ports on the nodes: what they state when it is free, else what is free. What
 * has been given is not held here; `Holdings` knows it.
 */
export class ServiceAllocator {
  readonly #holdings: Holdings;
  readonly #addresses: readonly AddressRange[];
  readonly #firstPort: number;
  readonly #lastPort: number;

  constructor(holdings: Holdings, { clusterIPs, nodePorts: [first, last] }: ServiceRanges) {
    this.#holdings = holdings;
    this.#addresses = clusterIPs.map((range) => new AddressRange(range));
    this.#firstPort = first;
    this.#lastPort = last;
  }

  /** A service, with its defaults, with what it lacks; `old` is what is stored under `key`. Throws what refuses it. */
  allocate(service: Service, old: Service | undefined, key: string): Service {
    const spec = structuredClone(service.spec ?? {});
    const draft = { service, spec, before: old?.spec ?? {}, key, chosen: new Set<number>() };
    const configured = this.#addresses.map(({ family }) => family);
    const causes = settleFamilies(spec, old?.spec, configured);
    if (causes.length > 0) throw invalid(serviceKind, '', service.metadata?.name ?? '', causes);
    if (spec.type !== 'ExternalName' && !isHeadless(spec)) this.#giveAddresses(draft);
    if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') this.#givePorts(draft);
    if (hasHealthCheckPort(spec) && !hasHealthCheckPort(draft.before)) this.#giveHealthCheckPort(draft);
    return { ...service, spec };
  }

  #giveAddresses(draft: Draft): void {
    const { spec, before } = draft;
    if (isHeadless(before)) return; // validation says why it cannot get an address
    const given = before.type === 'ExternalName' ? 0 : (before.clusterIPs ?? []).length; // they cannot change
    const addresses = [...(spec.clusterIPs ?? [])];
    for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
      const stated = addresses[index];
      if (index < given) continue;
      const range = this.#addresses.find((each) => each.family === family);
      if (range === undefined) continue; // of a cluster that had it once
      if (stated === undefined) addresses.push(this.#freeAddress(draft, range));
      else this.#claimAddress(draft, range, stated, addresses);
    }
    const [first] = addresses;
    if (first === undefined) return;
    spec.clusterIPs = addresses;
    spec.clusterIP = first;
  }

  #freeAddress(draft: Draft, range: AddressRange): string {
    this.#checkKnown();
    const isTaken = (offset: number) => this.#holdings.isTaken(addressThing(range.at(offset)), draft.key);
    const offset = pickFree(range, isTaken);
    if (offset === undefined) throw internal('failed to allocate a serviceIP: range is full');
    return range.at(offset);
  }

  #claimAddress({ service, key }: Draft, range: AddressRange, stated: string, all: readonly string[]): void {
    this.#checkKnown();
    const wrong =
      range.offsetOf(stated) === undefined
        ? `the provided IP (${stated}) is not in the valid range. The range of valid IPs is ${range.text}`
        : this.#holdings.isTaken(addressThing(stated), key)
          ? 'provided IP is already allocated'
          : undefined;
    if (wrong === undefined) return;
    refuse(service, invalidValue('spec.clusterIPs', all, `failed to allocate IP ${stated}: ${wrong}`));
  }

  /** Ports of one number, of different protocols, share their port on the nodes. */
  #givePorts(draft: Draft): void {
    const { spec, before } = draft;
    const earlier = new Set((before.ports ?? []).map(({ nodePort = 0 }) => nodePort));
    const byPort = new Map<number, number>();
    const isNew = before.type === undefined;
    spec.ports = (spec.ports ?? []).map((port, index, all) => {
      if (!port.nodePort && !hasNodePorts(spec)) return port;
      const shared = byPort.get(port.port);
      const stated = port.nodePort || (isNew ? statedFor(port, all) : 0);
      const nodePort = stated || (isNew ? shared : undefined) || this.#freePort(draft);
      const isOwn = nodePort === shared || earlier.has(nodePort) || (!isNew && draft.chosen.has(nodePort));
      if (stated !== 0 && !isOwn) this.#claimPort(draft, nodePort, index);
      draft.chosen.add(nodePort);
      byPort.set(port.port, shared ?? nodePort);
      return { ...port, nodePort };
    });
  }

  #claimPort(draft: Draft, port: number, index: number): void {
    const wrong = this.#whyNotFree(draft, port);
    if (wrong !== undefined)
      refuse(draft.service, invalidValue(`spec.ports[${index}].nodePort`, port, wrong));
  }

  #giveHealthCheckPort(draft: Draft): void {
    const stated = draft.spec.healthCheckNodePort ?? 0;
    const wrong = stated === 0 ? undefined : this.#whyNotFree(draft, stated);
    if (wrong !== undefined)
      throw internal(`failed to allocate requested HealthCheck NodePort ${stated}: ${wrong}`);
    draft.spec.healthCheckNodePort = stated || this.#freePort(draft);
  }

  #whyNotFree({ key, chosen }: Draft, port: number): string | undefined {
    this.#checkKnown();
    if (port < this.#firstPort || port > this.#lastPort) {
      const range = `${this.#firstPort}-${this.#lastPort}`;
      return `provided port is not in the valid range. The range of valid ports is ${range}`;
    }
    const isTaken = chosen.has(port) || this.#holdings.isTaken(portThing(port), key);
    return isTaken ? 'provided port is already allocated' : undefined;
  }

  #freePort({ key, chosen, spec }: Draft): number {
    this.#checkKnown();
    const size = this.#lastPort - this.#firstPort + 1;
    const stated = new Set([spec.healthCheckNodePort, ...(spec.ports ?? []).map(({ nodePort }) => nodePort)]);
    const isTaken = (offset: number) => {
      const port = this.#firstPort + offset;
      return chosen.has(port) || stated.has(port) || this.#holdings.isTaken(portThing(port), key);
    };
    const offset = pickFree({ size, kept: keptOf(size, 32, 128) }, isTaken);
    if (offset === undefined) throw internal('failed to allocate a nodePort: range is full');
    chosen.add(this.#firstPort + offset);
    return this.#firstPort + offset;
  }

  /** Nothing is given away that a service may have which cannot be read. */
  #checkKnown(): void {
    const [key, ...others] = this.#holdings.unreadable();
    if (key === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const message = `services in the store cannot be read (${key}${more}), and may have the address or port already`;
    throw new StatusError('ServiceUnavailable', message);
  }
}

/** The port on the nodes that another entry for the same port states. */
function statedFor({ port }: ServicePort, all: readonly ServicePort[]): number {
  return all.find((each) => each.port === port && each.nodePort)?.nodePort ?? 0;
}

function refuse({ metadata }: Service, cause: Cause): never {
  throw invalid(serviceKind, '', metadata?.name ?? '', [cause]);
}

function internal(why: string): StatusError {
  return new StatusError('InternalError', `Internal error occurred: ${why}`);
}
