import type { ClientOptions } from '../options.ts';

/** One context of a kubeconfig. */
export interface Kubeconfig {
  /** Name of the context. */
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
  /** The kind of server, from the cluster's extension `nodeward.io/endpoint`; default a control plane. */
  endpoint: 'controlPlane' | 'agent';
  /** The cluster's extensions by name, as in the file. */
  extensions: Readonly<Record<string, unknown>>;
  /** The files with certificates, keys or a token that it refers to and that were read. */
  files: readonly string[];
}

export interface KubeconfigOptions {
  /** Default the file's current-context. */
  context?: string;
}

/** The extension of a cluster entry whose server is a node agent. */
export const endpointExtension = 'nodeward.io/endpoint';

/** The options of a client with the server and the credentials of a kubeconfig. */
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
