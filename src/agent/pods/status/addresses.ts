import type { PodStatus, StatusInput } from './types.ts';

type Addresses = Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'>;

/**
 * Those of the pod stay after its end, when the runtime has forgotten them. With the network of the host they are those of
 * the host when the pod began, and one of the other family that came later.
 */
export function addressesOf(input: StatusInput): Addresses {
  const { pod, before, hostIps } = input;
  const hosts = oneOfEachFamily(hostIps);
  const kept = (before?.podIPs ?? []).map(({ ip }) => ip);
  const ofPod = pod.spec?.hostNetwork === true ? ofHost(hosts, kept) : ofSandbox(input, hosts, kept);
  return { ...toHostIps(hosts, before), ...toPodIps(ofPod) };
}

function ofHost(hosts: readonly string[], kept: readonly string[]): string[] {
  return kept.length === 0 ? [...hosts] : oneOfEachFamily([...kept, ...hosts]);
}

function ofSandbox(
  { view, record }: StatusInput,
  hosts: readonly string[],
  kept: readonly string[],
): string[] {
  const [newest] = view?.sandboxes ?? [];
  const now = newest?.isReady === true ? newest.ips : [];
  const ips = now.length > 0 ? now : record.ips.length > 0 ? record.ips : kept;
  return oneOfEachFamily(inOrderOf(ips, hosts[0]));
}

/** The family of the node's own address comes first. */
function inOrderOf(ips: readonly string[], first: string | undefined): string[] {
  if (first === undefined) return [...ips];
  const isSame = (ip: string) => familyOf(ip) === familyOf(first);
  return [...ips.filter(isSame), ...ips.filter((ip) => !isSame(ip))];
}

function oneOfEachFamily(ips: readonly string[]): string[] {
  return ips.filter((ip, index) => ips.findIndex((each) => familyOf(each) === familyOf(ip)) === index);
}

function familyOf(ip: string): 4 | 6 {
  return ip.includes(':') ? 6 : 4;
}

function toPodIps(ips: readonly string[]): Addresses {
  const [podIP] = ips;
  return podIP === undefined ? {} : { podIP, podIPs: ips.map((ip) => ({ ip })) };
}

function toHostIps(hosts: readonly string[], before: PodStatus | undefined): Addresses {
  const [hostIP] = hosts;
  if (hostIP !== undefined) return { hostIP, hostIPs: hosts.map((ip) => ({ ip })) };
  return {
    ...(before?.hostIP === undefined ? {} : { hostIP: before.hostIP }),
    ...(before?.hostIPs === undefined ? {} : { hostIPs: before.hostIPs }),
  };
}
