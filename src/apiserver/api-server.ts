import { join } from 'node:path';
import type { FeatureGates } from '../api/index.ts';
import { resolveGates } from '../api/index.ts';
import type { Clock, Logger } from '../base/index.ts';
import { createMetrics, describeError, ensurePrivateFolder, runServices } from '../base/index.ts';
import type { Access } from './access.ts';
import { createAccess } from './access.ts';
import { nodeRestriction } from './authz/index.ts';
import {
  certificateSigner,
  defaultServiceAccounts,
  ensureSystemNamespaces,
  eventExpiry,
  namespaceDeletion,
  ownerGarbage,
} from './controllers/index.ts';
import { tellFeatures } from './feature-metrics.ts';
import type { HealthCheck, HttpOptions } from './http/index.ts';
import { httpService } from './http-service.ts';
import type { StorageKind } from './open-storage.ts';
import { openStorage, storageService } from './open-storage.ts';
import type { NodeRequest, Pki } from './pki/index.ts';
import {
  nodeSigner,
  openPki,
  openServiceAccountKey,
  pkiRenewal,
  servingNames,
  writeAdminKubeconfig,
} from './pki/index.ts';
import type { Registry } from './registry/index.ts';
import { createRegistry } from './registry/index.ts';
import type { CachedStore } from './storage/index.ts';

export interface ApiServerOptions {
  /** Everything that is kept is kept here: `pki/`, `storage/`, `admin.kubeconfig`. */
  rootDir: string;
  groupSuffix: string;
  bindAddress: string;
  /** 0: the system chooses. */
  securePort: number;
  storage: StorageKind;
  /** How long an Event is kept after its last change; default an hour. */
  eventTtlMs?: number;
  /** As by default unless told otherwise. */
  featureGates?: FeatureGates;
  clock: Clock;
  log: Logger;
}

/** A control plane that serves. */
export interface RunningApiServer {
  /** `https://host:port` */
  url: string;
  /** PEM of the cluster's authority. */
  ca: string;
  /** For an administrator; 0600. */
  kubeconfig: string;
  /** Signs for a node agent; throws SigningRefusedError. */
  sign(request: NodeRequest): Promise<string>;
}

/**
 * Runs a control plane until `signal` aborts: keys and store first, then the controllers, last the port; stopped the
 * other way round. Throws an ExitError for what an operator must mend.
 */
export async function runApiServer(
  options: ApiServerOptions,
  signal: AbortSignal,
  onReady: (server: RunningApiServer) => void,
): Promise<void> {
  const { rootDir, groupSuffix, bindAddress, clock, log } = options;
  await ensurePrivateFolder(rootDir);
  const pkiOptions = { folder: join(rootDir, 'pki'), serverNames: [bindAddress], clock, log };
  const pki = await openPki(pkiOptions);
  const signer = nodeSigner(pki.authority, () => clock.now());
  await using storage = await openStorage(options);
  const key = await openServiceAccountKey(pkiOptions);
  const access = createAccess({ key, clock, groupSuffix, registry: () => registry });
  const { operations } = access;
  const registry: Registry = createRegistry({
    storage,
    clock,
    groupSuffix,
    admission: [nodeRestriction],
    operations,
    gates: options.featureGates ?? resolveGates({}),
  });
  await ensureSystemNamespaces(registry);

  const running: { server?: RunningApiServer } = {};
  const kubeconfig = join(rootDir, 'admin.kubeconfig');
  const writeKubeconfig = async (url: string, { authority, admin }: Pki) =>
    await writeAdminKubeconfig(kubeconfig, { server: url, ca: authority.cert, ...admin });
  const serve = httpService({
    address: bindAddress,
    port: options.securePort,
    storage,
    http: httpOptions(options, { registry, access, storage, pki, signal }),
    async onListening(port) {
      const url = `https://${hostAndPort(reachable(bindAddress), port)}`;
      await writeKubeconfig(url, pki);
      running.server = { url, ca: pki.authority.cert, kubeconfig, sign: (request) => signer.sign(request) };
    },
  });
  const renewal = pkiRenewal({
    ...pkiOptions,
    pki,
    async onRenewed(now) {
      serve.renew(tlsOf(now));
      if (running.server) await writeKubeconfig(running.server.url, now);
    },
  });
  const controller = { registry, storage, clock, log };
  const { dnsNames, ipAddresses } = servingNames([bindAddress]);
  const controlPlaneNames = [...dnsNames, ...ipAddresses];
  const controllers = [
    namespaceDeletion(controller),
    ownerGarbage(controller),
    certificateSigner({ ...controller, signer, controlPlaneNames }),
    defaultServiceAccounts(controller),
    eventExpiry({ ...controller, ttlMs: options.eventTtlMs }),
  ];
  const tell = () => running.server && onReady(running.server);
  await runServices(
    { services: [storageService(storage), ...controllers, renewal, serve], log, clock, onReady: tell },
    signal,
  );
}

interface Parts {
  registry: Registry;
  access: Access;
  storage: CachedStore;
  pki: Pki;
  signal: AbortSignal;
}

function httpOptions(options: ApiServerOptions, parts: Parts): HttpOptions {
  const { registry, access, storage, pki, signal } = parts;
  const { clock } = options;
  const metrics = createMetrics();
  tellFeatures(registry.gates, metrics);
  return {
    registry,
    authenticator: access.authenticator,
    authorizer: access.authorizer,
    tls: tlsOf(pki),
    checks: healthChecks(storage, signal),
    metrics,
    clock,
    log: options.log.child({ part: 'http' }),
  };
}

function tlsOf({ serving, authority }: Pki): HttpOptions['tls'] {
  return { ...serving, clientCa: authority.cert };
}

function healthChecks(storage: CachedStore, stopping: AbortSignal): HealthCheck[] {
  return [
    { name: 'ping', check: () => undefined },
    { name: 'storage', check: () => storage.revision().then(() => undefined, describeError) },
    { name: 'shutdown', check: () => (stopping.aborted ? 'the server is stopping' : undefined) },
  ];
}

/** An address that reaches a server on this machine: for "all addresses" the loopback one. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

function hostAndPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
