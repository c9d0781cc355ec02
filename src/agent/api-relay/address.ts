import { isIP, isIPv6 } from 'node:net';

/** What programs in pods find in KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
export interface ApiAddress {
  /** An IP address, or the name in the kubeconfig. */
  readonly host: string;
  readonly port: number;
}

export type ApiForPods =
  /** The control plane listens there, or the agent passes connections on from there: `relayTo`. */
  | { readonly address: ApiAddress; readonly relayTo?: ApiAddress }
  /** Pods cannot reach the API; why, and what an operator may do. */
  | { readonly missing: string };

/**
 * Where pods of this node reach the API that the agent reaches by the URL `server`. An address of this machine alone means
 * nothing in a pod, which has a loopback of its own: there it is the first address of the node, with the same port.
 */
export function apiAddressForPods(server: string | undefined, nodeIps: readonly string[]): ApiForPods {
  if (server === undefined) return { missing: 'the agent does not know where the API is yet' };
  const { hostname, port, pathname } = new URL(server);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || '443') };
  if (pathname !== '/') {
    return {
      missing: `${server} has a path, which programs in pods cannot be told: use a kubeconfig without one`,
    };
  }
  if (!isLoopback(address.host)) return { address };
  const [own] = nodeIps.filter((ip) => !isLoopback(ip));
  if (own === undefined) {
    return { missing: 'this node has no address but its loopback, which pods cannot reach: set --node-ip' };
  }
  return { address: { host: own, port: address.port }, relayTo: address };
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost';
  return isIPv6(host) ? host === '::1' : host.startsWith('127.');
}
