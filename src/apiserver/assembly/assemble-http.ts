import { setTimeout } from 'node:timers/promises';
import type { MetricsRegistry } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { continueTokens } from '../handlers/index.ts';
import type { HealthCheck, HttpOptions } from '../http/index.ts';
import type { NodeProxy, PodProxy } from '../node-proxy/index.ts';
import type { Pki } from '../pki/index.ts';
import { continueTokenKey } from '../pki/index.ts';
import type { Registry } from '../registry/index.ts';
import type { CachedStore, MaintainedStore } from '../storage/index.ts';
import {
  describeOrigin,
  registerObjectMetrics,
  registerStorageMetrics,
  registerUnreadableObjects,
  storageRoutes,
} from '../storage-admin/index.ts';
import type { Access } from './access.ts';
import { createComponentStatuses } from './component-statuses.ts';
import { tellFeatures } from './feature-metrics.ts';
import type { ApiServerOptions } from './options.ts';

/** What of an API server is served over HTTP. */
export interface Parts {
  registry: Registry;
  access: Access;
  storage: CachedStore;
  /** Where the store has some. */
  maintenance: MaintainedStore | undefined;
  tls: HttpOptions['tls'];
  pki: Pki;
  signal: AbortSignal;
  metrics: MetricsRegistry;
  audit: HttpOptions['audit'];
  nodeProxy: NodeProxy;
  podProxy: PodProxy;
  measured: NonNullable<HttpOptions['measured']>;
}

/** Assembles the options of the HTTP server, and registers the metrics of features and storage. */
export function httpOptions(options: ApiServerOptions, parts: Parts): HttpOptions {
  const { registry, access, storage, maintenance, tls, pki, signal } = parts;
  const { clock, log } = options;
  const { metrics, audit, nodeProxy, podProxy, measured } = parts;
  const inStore = storageCheck(storage, maintenance);
  tellFeatures(registry.gates, metrics);
  if (maintenance !== undefined) registerStorageMetrics(maintenance, metrics);
  registerObjectMetrics(registry, storage, metrics);
  registerUnreadableObjects(registry, metrics);
  return {
    registry,
    authenticator: access.authenticator,
    authorizer: access.authorizer,
    continueTokens: continueTokens(continueTokenKey(pki.authority), clock),
    tls,
    http2: options.http2 ?? false,
    checks: healthChecks(inStore, maintenance, signal),
    documents: [
      ...access.documents,
      ...(maintenance ? storageRoutes(maintenance, clock, log.child({ part: 'storage' })) : []),
    ],
    inFlight: options.inFlight,
    audit,
    nodeProxy,
    podProxy,
    measured: [
      ...measured,
      createComponentStatuses({
        registry,
        hasScheduler: options.scheduler !== undefined,
        storage: inStore,
        clock,
      }),
    ],
    metrics,
    clock,
    log: log.child({ part: 'http' }),
    intercept: options.intercept,
  };
}

function storageCheck(storage: CachedStore, maintenance: MaintainedStore | undefined): HealthCheck {
  return {
    name: 'storage',
    // to restart this server would not bring back a store that other servers use too
    readyOnly: storage.shared === true,
    check: () => Promise.race([storage.revision().then(() => undefined, describeError), late()]),
    note: () => describeOrigin(maintenance?.origin),
  };
}

function healthChecks(
  inStore: HealthCheck,
  maintenance: MaintainedStore | undefined,
  stopping: AbortSignal,
): HealthCheck[] {
  return [
    { name: 'ping', check: () => undefined },
    inStore,
    { name: 'storage-writes', readyOnly: true, check: () => maintenance?.noRoom },
    {
      name: 'shutdown',
      readyOnly: true,
      check: () => (stopping.aborted ? 'the server is stopping' : undefined),
    },
  ];
}

/** Limits how long a health check waits for the store. */
async function late(): Promise<string> {
  await setTimeout(checkMs, undefined, { ref: false });
  return `the store did not answer within ${checkMs} ms`;
}

const checkMs = 2_000;
