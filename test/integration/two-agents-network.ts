import { runCommand, runSuccessfully } from '../support/index.ts';
import { freeSubnet } from './lab/index.ts';

/** Hosts in network namespaces of their own, on one switch, with this machine as the hub. Disposal removes them. */
export interface HostNetwork extends AsyncDisposable {
  /** Where this machine is reached from the hosts. */
  readonly hub: string;
  /** The namespace of a host. */
  namespaceOf(host: string): string;
  /** As when a cable is pulled: what is sent is lost, and nobody is told. */
  cut(host: string): Promise<void>;
  heal(host: string): Promise<void>;
}

/** Why there can be no such network here; undefined where there can. */
export async function whyNoNetwork(): Promise<string | undefined> {
  const name = `nwtry${process.pid}`;
  const made = await runCommand('ip', ['link', 'add', name, 'type', 'bridge']).catch(() => undefined);
  if (made === undefined) return 'needs ip (iproute2)';
  if (made.code !== 0) return `needs the right to make networks: ${made.stderr.trim()}`;
  await runCommand('ip', ['link', 'delete', name]);
  return undefined;
}

export async function hostNetwork(hosts: readonly string[]): Promise<HostNetwork> {
  const net = freeSubnet('10.213').replace('.0/24', '');
  const hub = `${net}.1`;
  const bridge = `nwhub${process.pid}`; // names of links have 15 characters at most
  const portOf = (host: string) => `nw${hosts.indexOf(host)}p${process.pid}`;
  const namespaceOf = (host: string) => `nodeward-${process.pid}-${host}`;
  const ip = (line: string) => runSuccessfully('ip', line.split(' '));

  async function addHost(host: string, index: number): Promise<void> {
    const [port, namespace] = [portOf(host), namespaceOf(host)];
    await ip(`netns add ${namespace}`);
    await ip(`link add ${port} type veth peer name eth0 netns ${namespace}`);
    await ip(`link set ${port} master ${bridge} up`);
    await ip(`-n ${namespace} link set lo up`);
    await ip(`-n ${namespace} link set eth0 up`);
    await ip(`-n ${namespace} address add ${net}.${index + 2}/24 dev eth0`);
    await ip(`-n ${namespace} route add default via ${hub}`);
  }

  async function remove(): Promise<void> {
    for (const host of hosts) await runCommand('ip', ['netns', 'delete', namespaceOf(host)]);
    for (const host of hosts) await runCommand('ip', ['link', 'delete', portOf(host)]);
    await runCommand('ip', ['link', 'delete', bridge]);
  }

  try {
    await ip(`link add ${bridge} type bridge`);
    await ip(`address add ${hub}/24 dev ${bridge}`);
    await ip(`link set ${bridge} up`);
    for (const [index, host] of hosts.entries()) await addHost(host, index);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    hub,
    namespaceOf,
    cut: async (host) => void (await ip(`link set ${portOf(host)} down`)),
    heal: async (host) => void (await ip(`link set ${portOf(host)} up`)),
    [Symbol.asyncDispose]: remove,
  };
}
