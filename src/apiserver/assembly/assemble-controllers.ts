import type { MetricsRegistry, Service } from '../../base/index.ts';
import type { ServiceAccountTokens } from '../authn/index.ts';
import type { Authorizer } from '../authz/index.ts';
import type { ServerAddress } from '../controllers/index.ts';
import {
  apiEndpoints,
  apiService,
  apiTrustBundle,
  authenticationConfig,
  bootstrapTokenExpiry,
  certificateSigner,
  claimProtection,
  defaultServiceAccounts,
  disruptionBudgets,
  ephemeralVolumes,
  eventExpiry,
  namespaceDeletion,
  nodeHistory,
  nodeLifecycle,
  ownerGarbage,
  PodGarbageService,
  quotaUsage,
  roleAggregation,
  rootCertificates,
  serviceRange,
  tokenSecrets,
  volumeProtection,
} from '../controllers/index.ts';
import { leaderElection } from '../leader-election/index.ts';
import type { NodeSigner } from '../pki/index.ts';
import { servingNames } from '../pki/index.ts';
import type { Registry } from '../registry/index.ts';
import { defaultServiceRanges } from '../registry/index.ts';
import type { RunningScheduler } from '../scheduler/index.ts';
import { scheduler } from '../scheduler/index.ts';
import { findAdvertisedAddress, LiveServers, listServerNames, serverLease } from '../server-leases/index.ts';
import type { CachedStore } from '../storage/index.ts';
import { workloadControllers } from '../workloads/index.ts';
import { readClientCa } from './client-ca.ts';
import type { ApiServerOptions } from './options.ts';

interface Parts {
  registry: Registry;
  storage: CachedStore;
  signer: NodeSigner;
  authorizer: Authorizer;
  tokens: ServiceAccountTokens;
  /** PEM of the cluster's authority. */
  ca: string;
  /** Of the API, once it listens. */
  port: Promise<number>;
  metrics: MetricsRegistry;
  running: RunningScheduler;
  /** The services of what the controllers use; they are closed after them. */
  dependsOn: readonly string[];
}

/** The controllers, as services. With several servers only the leader runs them. */
export function assembleControllers(options: ApiServerOptions, parts: Parts): readonly Service[] {
  const { rootDir, bindAddress, clock, log } = options;
  const { registry, storage, metrics, dependsOn } = parts;
  const services = controllersOf(options, parts);
  if (!isOneOfSeveral(options)) return services.map((service) => ({ ...service, dependsOn }));
  return [
    { ...leaderElection({ registry, storage, services, metrics, clock, log }), dependsOn },
    serverLease({
      registry,
      rootDir,
      names: ownNames(bindAddress),
      advertised: advertised(options, parts),
      clock,
      log,
    }),
  ];
}

/** Where other machines reach this server, once it listens; the machine's addresses may change. */
function advertised({ bindAddress }: ApiServerOptions, { port }: Parts) {
  const listening = port.catch(() => 0); // of a server that does not come to listen nobody asks
  let own = 0;
  void listening.then((found) => (own = found));
  return async (): Promise<ServerAddress | undefined> => {
    const address = own === 0 ? undefined : await findAdvertisedAddress(bindAddress);
    return address === undefined ? undefined : { address, port: own };
  };
}

/** Where all servers on the store are reached. */
function allServers(options: ApiServerOptions, parts: Parts): () => Promise<readonly ServerAddress[]> {
  if (isOneOfSeveral(options)) {
    const live = new LiveServers(parts.registry, options.clock);
    return async () => live.addresses();
  }
  const find = advertised(options, parts);
  return async () => {
    const own = await find();
    return own === undefined ? [] : [own];
  };
}

function isOneOfSeveral({ leaderElection, storage }: ApiServerOptions): boolean {
  return leaderElection ?? storage === 'etcd';
}

function controllersOf(options: ApiServerOptions, parts: Parts): readonly Service[] {
  const {
    clock,
    log,
    bindAddress,
    eventTtlMs,
    nodeLifecycle: settings = {},
    scheduler: placing = {},
  } = options;
  const { registry, storage, signer, authorizer, tokens, ca, port, metrics, running } = parts;
  const controller = { registry, storage, clock, log };
  const { taintDomain } = settings;
  const controlPlaneNames = () => [...ownNames(bindAddress), ...listServerNames(registry)];
  return [
    namespaceDeletion(controller),
    ownerGarbage(controller),
    new PodGarbageService({ ...controller, settings }),
    nodeLifecycle({ ...controller, settings }),
    nodeHistory(controller),
    roleAggregation(controller),
    certificateSigner({ ...controller, signer, authorizer, controlPlaneNames }),
    bootstrapTokenExpiry(controller),
    defaultServiceAccounts(controller),
    rootCertificates({ ...controller, ca }),
    apiTrustBundle({ ...controller, ca }),
    authenticationConfig({ ...controller, readClientCas: () => readAuthorities(ca, options) }),
    apiService({ ...controller, port }),
    apiEndpoints({ ...controller, servers: allServers(options, parts) }),
    serviceRange({ ...controller, ranges: (options.serviceRanges ?? defaultServiceRanges).clusterIPs }),
    tokenSecrets({ ...controller, tokens, ca }),
    claimProtection(controller),
    volumeProtection(controller),
    ephemeralVolumes(controller),
    quotaUsage(controller),
    disruptionBudgets(controller),
    eventExpiry({ ...controller, ttlMs: eventTtlMs }),
    ...((options.workloadControllers ?? true) ? workloadControllers({ ...controller, taintDomain }) : []),
    ...(placing === false ? [] : [scheduler({ ...controller, metrics, running }, placing)]),
  ];
}

/** The authorities of client certificates: the cluster's own, and those of the operator. */
async function readAuthorities(ca: string, { authentication }: ApiServerOptions): Promise<string> {
  const path = authentication?.clientCaFile;
  return path === undefined ? ca : `${ca.trimEnd()}\n${await readClientCa(path)}`;
}

/** What this server's certificate is good for. */
function ownNames(bindAddress: string): readonly string[] {
  const { dnsNames, ipAddresses } = servingNames([bindAddress]);
  return [...dnsNames, ...ipAddresses];
}
