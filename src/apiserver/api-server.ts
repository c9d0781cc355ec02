import { version } from '../api/index.ts';
import { createMetrics, ensurePrivateFolder, registerBuildInfo, runServices } from '../base/index.ts';
import { assembleControllers } from './assembly/assemble-controllers.ts';
import { assembleRegistry } from './assembly/assemble-registry.ts';
import { assembleServing } from './assembly/assemble-serving.ts';
import { openAuthorizationWebhook } from './assembly/authorization-webhook.ts';
import { lockFolder } from './assembly/folder-lock.ts';
import { openAudit } from './assembly/open-audit.ts';
import type { ApiServerOptions } from './assembly/options.ts';
import { Resources } from './assembly/resources.ts';
import type { NodeRequest } from './pki/index.ts';
import { fileKeys, namesWithRelays, nodeSigner } from './pki/index.ts';
import { createValueReader } from './registry/index.ts';
import { RunningScheduler } from './scheduler/index.ts';
import { openStorage } from './storage/index.ts';

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
 * Runs a control plane until `signal` aborts. The lock of the root folder comes first, then the store, keys, and whatever else
 * is opened for the services; the services say by `dependsOn` what they stand on, and so in which order they start and stop:
 *
 *     storage ─┬─► controllers (or those of the leader), server-lease
 *              └─► http ──► certificates, client-ca           audit, node-proxy, webhook ──► http, authorization-webhook
 *
 * Throws an ExitError for what an operator must mend.
 */
export async function runApiServer(
  options: ApiServerOptions,
  signal: AbortSignal,
  onReady: (server: RunningApiServer) => void,
): Promise<void> {
  const { rootDir, groupSuffix, bindAddress, clock, log, metrics = createMetrics() } = options;
  registerBuildInfo(metrics, version.gitVersion);
  const serverNames = namesWithRelays(bindAddress);
  const files = fileKeys({ rootDir, serverNames, clock, log });
  const keys = options.keys ?? files;
  if (keys === files) await ensurePrivateFolder(rootDir);
  using _lock = keys === files ? lockFolder(rootDir) : undefined;
  await using resources = new Resources();
  const { storage, maintenance } = await openStorage({
    ...options,
    readValue: createValueReader(groupSuffix),
  });
  resources.use('storage', storage, storage.failed);
  const pki = await keys.pki();
  const signer = nodeSigner(pki.authority, () => clock.now());
  const audit = options.audit && (await openAudit(options.audit, { metrics, clock, log }));
  if (audit !== undefined) resources.use('audit', audit.sink);
  const key = await keys.serviceAccountKey();
  const asked = options.authorization?.webhook;
  const surroundings = { groupSuffix, clock, log: log.child({ part: 'authorization' }), metrics };
  const webhook = asked && resources.use('webhook', await openAuthorizationWebhook(asked, surroundings));
  const running = new RunningScheduler();
  const { registry, access } = await assembleRegistry(options, {
    storage,
    key,
    webhook: webhook?.authorizer,
    running,
  });
  const dependsOn = resources.services.map(({ name }) => name); // the signer asks the webhook, too
  const served = { keys, pki, registry, access, storage, maintenance, metrics, audit, signal };
  const serving = await assembleServing(options, served, resources);
  const { authorizer, tokens } = access;
  const controllers = assembleControllers(options, {
    registry,
    storage,
    signer,
    authorizer,
    tokens,
    ca: pki.authority.cert,
    port: serving.port,
    metrics,
    running,
    dependsOn,
  });
  const services = [...resources.services, ...controllers, ...serving.services];
  if (webhook !== undefined) services.push({ ...webhook.reload, dependsOn: ['webhook'] });
  const tellReady = () => {
    const { url } = serving;
    if (url === undefined) return;
    onReady({ url, ca: pki.authority.cert, kubeconfig: files.kubeconfig, sign: signer.sign });
  };
  await runServices({ services, log, clock, onReady: tellReady }, signal);
}
