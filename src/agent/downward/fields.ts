import type { Pod } from '../../api/index.ts';
import { billionths } from '../../api/index.ts';
import { divideUp } from '../resources/index.ts';
import type { AnyContainer } from './find-container.ts';
import { namespaceOf } from './find-container.ts';

/* What a pod can learn about itself. Used for the environment; files of the downward API say the same. */

export interface DownwardFacts {
  readonly node: {
    readonly hostIps: readonly string[];
    /** Of the node, for a resource without a limit. */
    readonly allocatable: Readonly<Record<string, string>>;
  };
  /** The main one first; empty before the pod has a sandbox. */
  readonly podIps: readonly string[];
}

const subscripted = /^metadata\.(labels|annotations)\['([^']*)'\]$/;

/** The value of a `fieldRef`; throws an Error for a field that cannot be referred to. */
export function podField(pod: Pod, path: string, { node, podIps }: DownwardFacts): string {
  const [, map, key = ''] = subscripted.exec(path) ?? [];
  if (map === 'labels') return pod.metadata?.labels?.[key] ?? '';
  if (map === 'annotations') return pod.metadata?.annotations?.[key] ?? '';
  const ips = pod.spec?.hostNetwork === true && podIps.length === 0 ? node.hostIps : podIps;
  switch (path) {
    case 'metadata.name':
      return pod.metadata?.name ?? '';
    case 'metadata.namespace':
      return namespaceOf(pod);
    case 'metadata.uid':
      return pod.metadata?.uid ?? '';
    case 'spec.nodeName':
    case 'spec.host': // as old clients call it
      return pod.spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return node.hostIps[0] ?? '';
    case 'status.hostIPs':
      return node.hostIps.join(',');
    case 'status.podIP':
      return ips[0] ?? '';
    case 'status.podIPs':
      return ips.join(',');
    default:
      throw new Error(`unsupported fieldPath: ${path}`);
  }
}

const limitable = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/**
 * The value of a `resourceFieldRef` in units of the divisor, rounded up. A limit that neither the container nor its pod has
 * is what the node can give.
 */
export function containerResource(
  pod: Pod,
  container: AnyContainer,
  { resource, divisor }: { readonly resource: string; readonly divisor?: string | undefined },
  { node }: DownwardFacts,
): string {
  const [, kind, name = ''] = limitable.exec(resource) ?? [];
  if (kind === undefined) throw new Error(`unsupported container resource : ${resource}`);
  const own = kind === 'limits' ? container.resources?.limits?.[name] : container.resources?.requests?.[name];
  const amount = kind === 'limits' ? (positive(own) ?? limitAround(pod, name, node.allocatable)) : own;
  const unit = billionths(divisor ?? '0');
  return String(divideUp(billionths(amount ?? '0'), unit === 0n ? whole : unit));
}

const whole = 1_000_000_000n;

function limitAround(
  pod: Pod,
  name: string,
  allocatable: DownwardFacts['node']['allocatable'],
): string | undefined {
  const ofPod = positive(pod.spec?.resources?.limits?.[name]);
  return ofPod ?? (name.startsWith('hugepages-') ? undefined : allocatable[name]);
}

function positive(quantity: string | undefined): string | undefined {
  return quantity !== undefined && billionths(quantity) > 0n ? quantity : undefined;
}
