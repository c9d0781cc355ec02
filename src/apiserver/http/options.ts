import type { Clock, Logger, Registry as Metrics } from '../../base/index.ts';
import type { Authenticator } from '../authn/index.ts';
import type { Authorizer } from '../authz/index.ts';
import type { Registry } from '../registry/index.ts';
import type { HealthCheck } from './health.ts';

export interface HttpOptions {
  registry: Registry;
  authenticator: Authenticator;
  authorizer: Authorizer;
  tls: { key: string; cert: string; clientCa: string };
  checks: readonly HealthCheck[];
  metrics: Metrics;
  clock: Clock;
  log: Logger;
}
