import type { Pod } from '../../api/index.ts';
import { formatDuration } from '../../base/index.ts';

export type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];
export type Probe = NonNullable<Container['livenessProbe']>;
export type HttpGet = NonNullable<Probe['httpGet']>;

export type ProbeKind = 'startup' | 'readiness' | 'liveness';
export const probeKinds = ['startup', 'readiness', 'liveness'] as const satisfies readonly ProbeKind[];

/** What became of one try of a probe. */
export type ProbeOutcome =
  /** `warning`: what the people of the pod should know all the same. */
  | { readonly result: 'success'; readonly warning?: string }
  /** `output`: why, for an Event; it may quote a program. */
  | { readonly result: 'failure'; readonly output: string }
  /** It could not be run, which says nothing of the container. */
  | { readonly result: 'unknown'; readonly why: string };

/** Where a container is probed, or its hooks are sent to. */
export interface ProbePlace {
  readonly containerId: string;
  /** The pod's first address, or the node's for a pod in the network of the host; undefined: it has none. */
  readonly host: string | undefined;
  /** For ports by name, and for variables in commands. */
  readonly container: Pick<Container, 'ports' | 'env'>;
}

/** A probe or hook cannot be run as it is described, or with what there is. */
export class ProbePlaceError extends Error {
  override readonly name = 'ProbePlaceError';
}

/** The number of a port. Throws a ProbePlaceError in the reference's words. */
export function resolvePort(port: number | string, { container }: Pick<ProbePlace, 'container'>): number {
  const resolved = typeof port === 'number' ? port : findPort(port, container);
  if (resolved > 0 && resolved < 65_536) return resolved;
  throw new ProbePlaceError(`invalid port number: ${resolved}`);
}

function findPort(name: string, { ports = [] }: Pick<Container, 'ports'>): number {
  const named = ports.find((port) => port.name === name)?.containerPort;
  if (named !== undefined) return named;
  if (/^[-+]?\d{1,9}$/.test(name)) return Number(name);
  throw new ProbePlaceError(
    `strconv.Atoi: parsing ${JSON.stringify(name)}: invalid syntax (the container has no port of that name)`,
  );
}

/** `own`: the host that the probe or hook names. */
export function resolveHost(own: string | undefined, { host }: Pick<ProbePlace, 'host'>): string {
  const resolved = own || host;
  if (resolved === undefined) throw new ProbePlaceError('the pod has no address');
  return resolved;
}

/** An IPv6 address in brackets, as it stands before a port. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** As the reference's language writes a duration. */
export function formatSeconds(seconds: number): string {
  return formatDuration(BigInt(seconds) * 1_000_000_000n);
}
