import { resolveGates } from '../api/index.ts';
import { createMetrics, runServices } from '../base/index.ts';
import { createAccess } from './assembly/access.ts';
import { assembleControllers, ownNames } from './assembly/assemble-controllers.ts';
import { httpOptions } from './assembly/assemble-http.ts';
import { openAuthorizationWebhook } from './assembly/authorization-webhook.ts';
import { clientCaReload, readClientCa } from './assembly/client-ca.ts';
import { httpService } from './assembly/http-service.ts';
import { openAudit } from './assembly/open-audit.ts';
import type { ApiServerOptions } from './assembly/options.ts';
import { ensureDefaultPolicy, ensureSystemNamespaces } from './controllers/index.ts';
import type { HttpOptions } from './http/index.ts';
import { leaderElection } from './leader-election/index.ts';
import { createNodeProxy } from './node-proxy/index.ts';
import type { NodeRequest, Pki } from './pki/index.ts';
import { fileKeys, nodeSigner, pkiRenewal } from './pki/index.ts';
import type { Registry } from './registry/index.ts';
import { createRegistry } from './registry/index.ts';
import { serverLease } from './server-leases/index.ts';
import { openStorage, storageService } from './storage/index.ts';

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
  await using nodeProxy = createNodeProxy({
    ca: pki.authority.cert,
    identity: () => inUse.pki.agentClient,
    metrics,
    clock,
  });
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
      nodeProxy,
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
  const parts = { registry, storage, signer, authorizer: access.authorizer };
  const assembled = assembleControllers(options, parts);
  const isOneOfSeveral = options.leaderElection ?? options.storage === 'etcd';
  const controllers = isOneOfSeveral
    ? [
        leaderElection({ registry, storage, services: assembled, metrics, clock, log }),
        serverLease({ registry, rootDir, names: ownNames(bindAddress), clock, log }),
      ]
    : assembled;
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

function tlsOf({ serving, authority }: Pki, further: string): HttpOptions['tls'] {
  return { ...serving, clientCa: `${authority.cert}\n${further}` };
}

/** An address that reaches a server on this machine: for "all addresses" the loopback one. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

function hostAndPort(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
