import type { MetricsRegistry, Service } from '../../base/index.ts';
import type { HttpOptions } from '../http/index.ts';
import { createMeasured, NodeAnswers } from '../metrics-api/index.ts';
import { createNodeProxy, PodProxy } from '../node-proxy/index.ts';
import type { Keys, Pki } from '../pki/index.ts';
import { pkiRenewal } from '../pki/index.ts';
import type { Registry } from '../registry/index.ts';
import type { CachedStore, MaintainedStore } from '../storage/index.ts';
import type { Access } from './access.ts';
import { httpOptions } from './assemble-http.ts';
import { clientCaReload, readClientCa } from './client-ca.ts';
import { httpService } from './http-service.ts';
import type { ApiServerOptions } from './options.ts';
import type { Resources } from './resources.ts';

interface Parts {
  keys: Keys;
  /** What is in use at the start. */
  pki: Pki;
  registry: Registry;
  access: Access;
  storage: CachedStore;
  maintenance: MaintainedStore | undefined;
  metrics: MetricsRegistry;
  audit: HttpOptions['audit'];
  /** Aborts when the server is to stop. */
  signal: AbortSignal;
}

export interface Serving {
  services: readonly Service[];
  /** `https://host:port`; undefined until it listens. */
  readonly url: string | undefined;
  /** Resolves once it listens. */
  readonly port: Promise<number>;
}

/**
 * The port, with the certificates that are shown there and those that clients may show. Throws an ExitError for what an
 * operator must mend.
 */
export async function assembleServing(
  options: ApiServerOptions,
  parts: Parts,
  resources: Resources,
): Promise<Serving> {
  const { bindAddress, authentication, clock, log } = options;
  const { keys, pki, storage, metrics } = parts;
  const path = authentication?.clientCaFile;
  const inUse = { pki, clientCa: path === undefined ? '' : await readClientCa(path) };
  const proxy = { ca: pki.authority.cert, identity: () => inUse.pki.agentClient, metrics, clock };
  const nodeProxy = resources.use('node-proxy', createNodeProxy(proxy));
  const answers = resources.use(
    'metrics-api',
    new NodeAnswers({ proxy: nodeProxy, clock, log: log.child({ part: 'metrics-api' }) }),
  );
  const { registry } = parts;
  const measured = registry.gates.ResourceMetricsAPI ? createMeasured({ registry, answers, clock }) : [];
  const podProxy = new PodProxy({ metrics, clock });
  const tls = () => tlsOf(inUse.pki, inUse.clientCa);
  let url: string | undefined;
  const listening = Promise.withResolvers<number>();
  const http = httpService({
    address: bindAddress,
    port: options.securePort,
    dependsOn: resources.services.map(({ name }) => name),
    storage,
    http: httpOptions(options, { ...parts, tls: tls(), nodeProxy, podProxy, measured }),
    async onListening(port) {
      const reached = `https://${hostAndPort(reachable(bindAddress), port)}`;
      await keys.publish(reached, pki);
      url = reached;
      listening.resolve(port);
    },
  });
  const renewal = pkiRenewal({
    keys,
    clock,
    pki,
    dependsOn: [http.name],
    async onRenewed(now) {
      inUse.pki = now;
      http.renew(tls());
      if (url !== undefined) await keys.publish(url, now);
    },
  });
  const onChanged = (pem: string) => {
    inUse.clientCa = pem;
    http.renew(tls());
  };
  const reload = path !== undefined && {
    path,
    pem: inUse.clientCa,
    dependsOn: [http.name],
    clock,
    log: log.child({ part: 'authentication' }),
    onChanged,
  };
  return {
    port: listening.promise,
    services: [http, renewal, ...(reload ? [clientCaReload(reload)] : [])],
    get url() {
      return url;
    },
  };
}

/** The authority is in the chain, so that a machine that joins can compare its hash and trust it. */
function tlsOf({ serving, authority }: Pki, further: string): HttpOptions['tls'] {
  const chain = `${serving.cert.trimEnd()}\n${authority.cert}`;
  return { key: serving.key, cert: chain, clientCa: `${authority.cert}\n${further}` };
}

/** An address that reaches a server on this machine: for "all addresses" the loopback one. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

function hostAndPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
