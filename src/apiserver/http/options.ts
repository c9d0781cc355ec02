import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import type { Authenticator } from '../authn/index.ts';
import type { Authorizer } from '../authz/index.ts';
import type { ContinueTokens, Measured } from '../handlers/index.ts';
import type { NodeProxy, PodProxy } from '../node-proxy/index.ts';
import type { Registry } from '../registry/index.ts';
import type { AuditOptions } from './admission/audit.ts';
import type { DocumentRoute } from './documents/route.ts';
import type { InFlightLimits } from './flow/in-flight.ts';
import type { HealthCheck } from './health.ts';

export interface HttpOptions {
  registry: Registry;
  authenticator: Authenticator;
  authorizer: Authorizer;
  /** For lists in chunks. */
  continueTokens: ContinueTokens;
  tls: { key: string; cert: string; clientCa: string };
  /** Whether clients are offered HTTP/2 besides HTTP/1.1. */
  http2: boolean;
  checks: readonly HealthCheck[];
  /** Further paths outside of the API's objects. */
  documents?: readonly DocumentRoute[] | undefined;
  /** Forwards requests to node agents. */
  nodeProxy: NodeProxy;
  podProxy: PodProxy;
  /** What answers reads of kinds that are not stored. */
  measured?: readonly Measured[] | undefined;
  /** How many requests run at once. */
  inFlight?: InFlightLimits | undefined;
  /** Which requests are recorded, and where; default none. */
  audit?: AuditOptions | undefined;
  metrics: MetricsRegistry;
  clock: Clock;
  log: Logger;
  /** Is called for each request before authentication: it may wait, or throw a StatusError that becomes the answer. */
  intercept?: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined;
}
