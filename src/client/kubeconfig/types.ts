import type { ClientOptions } from '../options.ts';

/** What a kubeconfig says of one context. */
export interface Kubeconfig {
  /** Of the context. */
  name: string;
  /** `https://host:port` */
  server: string;
  /** PEM. */
  ca: string;
  serverName?: string;
  /** PEM, both or none. */
  cert?: string;
  key?: string;
  token?: string;
  namespace?: string;
  /** What the server is, from the cluster's extension `nodeward.io/endpoint`: a control plane unless said otherwise. */
  endpoint: 'controlPlane' | 'agent';
  /** The cluster's extensions by name, as they stand in the file. */
  extensions: Readonly<Record<string, unknown>>;
  /** The files that it names and that were read: certificates, keys, a token. */
  files: readonly string[];
}

export interface KubeconfigOptions {
  /** Default the file's current-context. */
  context?: string;
}

/** Marks a cluster entry whose server is a node agent. */
export const endpointExtension = 'nodeward.io/endpoint';

/** The client that a kubeconfig describes. */
export function clientOptionsOf(config: Kubeconfig): ClientOptions {
  const { server, ca, serverName, cert, key, token } = config;
  return {
    server,
    ca,
    ...(serverName === undefined ? {} : { serverName }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
  };
}
