import type { FeatureGates } from '../api/index.ts';
import { resolveGates } from '../api/index.ts';
import type { Clock, Logger, Registry as Metrics } from '../base/index.ts';
import { createMetrics, describeError, runServices } from '../base/index.ts';
import type { Access } from './access.ts';
import { createAccess } from './access.ts';
import type { AuthenticationOptions } from './authentication.ts';
import { openAuthorizationWebhook } from './authorization-webhook.ts';
import type { WebhookOptions } from './authz/index.ts';
import { clientCaReload, readClientCa } from './client-ca.ts';
import type { NodeLifecycleSettings } from './controllers/index.ts';
import {
  bootstrapTokenExpiry,
  certificateSigner,
  defaultServiceAccounts,
  ensureDefaultPolicy,
  ensureSystemNamespaces,
  eventExpiry,
  namespaceDeletion,
  nodeLifecycle,
  ownerGarbage,
  podGarbage,
  roleAggregation,
} from './controllers/index.ts';
import { tellFeatures } from './feature-metrics.ts';
import { continueTokens } from './handlers/index.ts';
import type { HealthCheck, HttpOptions } from './http/index.ts';
import { httpService } from './http-service.ts';
import type { AuditSettings } from './open-audit.ts';
import { openAudit } from './open-audit.ts';
import type { OpenStorageOptions, StorageKind } from './open-storage.ts';
import { openStorage, storageService } from './open-storage.ts';
import type { Keys, NodeRequest, Pki } from './pki/index.ts';
import { continueTokenKey, fileKeys, nodeSigner, pkiRenewal, servingNames } from './pki/index.ts';
import type { Registry } from './registry/index.ts';
import { createRegistry } from './registry/index.ts';
import type { CachedStore, MaintainedStore } from './storage/index.ts';
import { storageRoutes, tellStorage, toldOrigin } from './storage-admin/index.ts';

export interface ApiServerOptions {
  /** Everything that is kept is kept here: `pki/`, `storage/`, `admin.kubeconfig`. */
  rootDir: string;
  groupSuffix: string;
  bindAddress: string;
  /** 0: the system chooses. */
  securePort: number;
  storage: StorageKind;
  /** What of the past can be read: how long, and at most how many bytes of it; default 5 minutes and 256 MiB. */
  historyMs?: number;
  historyBytes?: number;
  /** How callers may say who they are, beside certificates and tokens of service accounts. */
  authentication?: AuthenticationOptions;
  /** Who else says what callers may do; default nobody beside roles. */
  authorization?: { webhook: WebhookOptions } | undefined;
  /** What is kept of requests; default nothing. */
  audit?: AuditSettings | undefined;
  /** How long an Event is kept after its last change; default an hour. */
  eventTtlMs?: number;
  /** How nodes are watched over. */
  nodeLifecycle?: NodeLifecycleSettings;
  /** As by default unless told otherwise. */
  featureGates?: FeatureGates;
  /** Whether clients are offered HTTP/2 beside HTTP/1.1; default false: many connections cost less without it. */
  http2?: boolean;
  /** How many requests are worked on at once; default 400 that read and 200 that write. */
  inFlight?: HttpOptions['inFlight'];
  clock: Clock;
  log: Logger;
  /** Default: in files below `rootDir`. */
  keys?: Keys;
  wrapStore?: OpenStorageOptions['wrapStore'];
  /** Default: a registry with the process's own figures in it. */
  metrics?: HttpOptions['metrics'];
  intercept?: HttpOptions['intercept'];
}

/** A control plane that serves. */
export interface RunningApiServer {
  /** `https://host:port` */
  url: string;
  /** PEM of the cluster's authority. */
  ca: string;
  /** For an administrator; 0600. Not written where the keys are not in files. */
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
  const files = fileKeys({ rootDir, serverNames: [bindAddress], clock, log });
  const keys = options.keys ?? files;
  const pki = await keys.pki();
  const signer = nodeSigner(pki.authority, () => clock.now());
  const { storage: opened, maintenance } = await openStorage(options);
  await using storage = opened;
  const metrics = options.metrics ?? createMetrics();
  await using auditing = new AsyncDisposableStack();
  const audit = options.audit && (await openAudit(options.audit, { metrics, clock, log }));
  if (audit !== undefined) auditing.use(audit.sink);
  const key = await keys.serviceAccountKey();
  const { authentication, authorization } = options;
  await using webhook =
    authorization &&
    (await openAuthorizationWebhook(authorization.webhook, {
      groupSuffix,
      clock,
      log: log.child({ part: 'authorization' }),
      metrics,
    }));
  const access = await createAccess({
    key,
    authentication,
    webhook: webhook?.authorizer,
    clock,
    log: log.child({ part: 'authentication' }),
    groupSuffix,
    registry: () => registry,
  });
  const { operations } = access;
  const registry: Registry = createRegistry({
    storage,
    clock,
    groupSuffix,
    admission: access.admission,
    advice: access.rbac.advice,
    operations,
    gates: options.featureGates ?? resolveGates({}),
  });
  await ensureSystemNamespaces(registry);
  await ensureDefaultPolicy(registry, log);
  access.load();

  const caFile = authentication?.clientCaFile;
  const inUse = { pki, clientCa: caFile === undefined ? '' : await readClientCa(caFile) };
  const tls = () => tlsOf(inUse.pki, inUse.clientCa);
  const running: { server?: RunningApiServer } = {};
  const serve = httpService({
    address: bindAddress,
    port: options.securePort,
    storage,
    http: httpOptions(options, {
      registry,
      access,
      storage,
      maintenance,
      tls: tls(),
      pki,
      signal,
      metrics,
      audit,
    }),
    async onListening(port) {
      const url = `https://${hostAndPort(reachable(bindAddress), port)}`;
      await keys.publish(url, pki);
      running.server = { url, ca: pki.authority.cert, kubeconfig: files.kubeconfig, sign: signer.sign };
    },
  });
  const renewal = pkiRenewal({
    keys,
    clock,
    pki,
    async onRenewed(now) {
      inUse.pki = now;
      serve.renew(tls());
      if (running.server) await keys.publish(running.server.url, now);
    },
  });
  const reload =
    caFile === undefined
      ? undefined
      : clientCaReload({
          path: caFile,
          pem: inUse.clientCa,
          clock,
          log: log.child({ part: 'authentication' }),
          onChanged(pem) {
            inUse.clientCa = pem;
            serve.renew(tls());
          },
        });
  const controller = { registry, storage, clock, log };
  const { dnsNames, ipAddresses } = servingNames([bindAddress]);
  const controlPlaneNames = [...dnsNames, ...ipAddresses];
  const controllers = [
    namespaceDeletion(controller),
    ownerGarbage(controller),
    podGarbage({ ...controller, settings: options.nodeLifecycle ?? {} }),
    nodeLifecycle({ ...controller, settings: options.nodeLifecycle ?? {} }),
    roleAggregation(controller),
    certificateSigner({ ...controller, signer, authorizer: access.authorizer, controlPlaneNames }),
    bootstrapTokenExpiry(controller),
    defaultServiceAccounts(controller),
    eventExpiry({ ...controller, ttlMs: options.eventTtlMs }),
  ];
  const tell = () => running.server && onReady(running.server);
  await runServices(
    {
      services: [
        storageService(storage),
        ...controllers,
        renewal,
        ...[reload, webhook?.reload].filter((service) => service !== undefined),
        serve,
      ],
      log,
      clock,
      onReady: tell,
    },
    signal,
  );
}

interface Parts {
  registry: Registry;
  access: Access;
  storage: CachedStore;
  /** Where the store has some. */
  maintenance: MaintainedStore | undefined;
  tls: HttpOptions['tls'];
  pki: Pki;
  signal: AbortSignal;
  metrics: Metrics;
  audit: HttpOptions['audit'];
}

function httpOptions(options: ApiServerOptions, parts: Parts): HttpOptions {
  const { registry, access, storage, maintenance, tls, pki, signal } = parts;
  const { clock, log } = options;
  const { metrics, audit } = parts;
  tellFeatures(registry.gates, metrics);
  if (maintenance !== undefined) tellStorage(maintenance, metrics);
  return {
    registry,
    authenticator: access.authenticator,
    authorizer: access.authorizer,
    continueTokens: continueTokens(continueTokenKey(pki.authority), clock),
    tls,
    http2: options.http2 ?? false,
    checks: healthChecks(storage, maintenance, signal),
    documents: [
      ...access.documents,
      ...(maintenance ? storageRoutes(maintenance, log.child({ part: 'storage' })) : []),
    ],
    inFlight: options.inFlight,
    audit,
    metrics,
    clock,
    log: log.child({ part: 'http' }),
    intercept: options.intercept,
  };
}

function tlsOf({ serving, authority }: Pki, further: string): HttpOptions['tls'] {
  return { ...serving, clientCa: `${authority.cert}\n${further}` };
}

function healthChecks(
  storage: CachedStore,
  maintenance: MaintainedStore | undefined,
  stopping: AbortSignal,
): HealthCheck[] {
  return [
    { name: 'ping', check: () => undefined },
    {
      name: 'storage',
      check: () => storage.revision().then(() => undefined, describeError),
      note: () => toldOrigin(maintenance?.origin),
    },
    { name: 'storage-writes', readyOnly: true, check: () => maintenance?.noRoom },
    {
      name: 'shutdown',
      readyOnly: true,
      check: () => (stopping.aborted ? 'the server is stopping' : undefined),
    },
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
