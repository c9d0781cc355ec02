import type { Pod } from '../../api/index.ts';
import { namespaceOf, quotePod } from '../downward/index.ts';
import type { DnsSettings, NodeSettings } from './types.ts';

const maxServers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;
const maxDomainCharacters = 253;

/** For an event of the type Warning on the pod. */
export interface ConfigWarning {
  readonly reason: 'DNSConfigForming' | 'MissingClusterDNS';
  readonly message: string;
}

export interface PodDns {
  readonly dns: DnsSettings;
  readonly warnings: readonly ConfigWarning[];
}

/** The resolver settings of a pod, by its policy and its own settings, within what resolvers take. */
export function resolveDns(pod: Pod, node: NodeSettings): PodDns {
  const warnings: ConfigWarning[] = [];
  const base = baseOf(pod, node, warnings);
  const merged = withOwn(base, pod);
  const servers = fitServers(merged.servers, warnings);
  const searches = fitSearches(merged.searches, warnings);
  return { dns: { servers, searches, options: merged.options }, warnings };
}

function baseOf(pod: Pod, node: NodeSettings, warnings: ConfigWarning[]): DnsSettings {
  const policy = pod.spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const isOfHost = policy === 'Default' || (policy === 'ClusterFirst' && pod.spec?.hostNetwork === true);
  if (isOfHost) return node.hostDns;
  if (node.clusterDns.length > 0) return clusterDns(pod, node);
  warnings.push({ reason: 'MissingClusterDNS', message: `pod: ${quotePod(pod)}. ${noClusterDns}` });
  return node.hostDns;
}

const noClusterDns =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';

function clusterDns(pod: Pod, { clusterDns: servers, clusterDomain, hostDns }: NodeSettings): DnsSettings {
  const svc = `svc.${clusterDomain}`;
  const own = clusterDomain === '' ? [] : [`${namespaceOf(pod)}.${svc}`, svc, clusterDomain];
  return { servers, searches: withoutDoubles([...own, ...hostDns.searches]), options: ['ndots:5'] };
}

function withOwn(base: DnsSettings, { spec }: Pod): DnsSettings {
  const own = spec?.dnsConfig;
  if (own === undefined) return base;
  const options = new Map(base.options.map((option) => [nameOf(option), option]));
  for (const { name = '', value = '' } of own.options ?? []) {
    options.set(name, value === '' ? name : `${name}:${value}`);
  }
  return {
    servers: withoutDoubles([...base.servers, ...(own.nameservers ?? [])]),
    searches: withoutDoubles([...base.searches, ...(own.searches ?? [])]),
    options: [...options.values()],
  };
}

function nameOf(option: string): string {
  return option.split(':', 1)[0] ?? '';
}

function withoutDoubles(values: readonly string[]): string[] {
  return [...new Set(values)];
}

function fitServers(servers: readonly string[], warnings: ConfigWarning[]): readonly string[] {
  if (servers.length <= maxServers) return servers;
  const kept = servers.slice(0, maxServers);
  const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${kept.join(' ')}`;
  warnings.push({ reason: 'DNSConfigForming', message });
  return kept;
}

/** A domain that is too long makes some resolvers abort. */
function fitSearches(searches: readonly string[], warnings: ConfigWarning[]): readonly string[] {
  const kept = searches.slice(0, maxSearches).filter((domain) => domain.length <= maxDomainCharacters);
  while (kept.join(' ').length > maxSearchCharacters) kept.pop();
  if (kept.length === searches.length) return kept;
  const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(' ')}`;
  warnings.push({ reason: 'DNSConfigForming', message });
  return kept;
}
