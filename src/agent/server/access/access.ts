import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import { certificateAuthenticator } from './certificates.ts';
import { anonymousCaller, mastersGroup } from './groups.ts';
import { createReviewMetrics } from './metrics.ts';
import { reviewedPermissions } from './permissions.ts';
import type { ReviewApi } from './review.ts';
import { createReviewer } from './review.ts';
import { parseBearerToken, tokenAuthenticator } from './tokens.ts';
import type { Access, AccessSettings, Caller, Credentials, Identified, Verdict, Wanted } from './types.ts';

export interface AccessOptions {
  nodeName: string;
  /** Returns the current settings. */
  settings(): AccessSettings;
  /**
   * Clients of the control plane with separate connections: unauthenticated callers can cause token reviews, which must not
   * delay the reviews of permissions. Undefined in standalone mode.
   */
  control: { tokens: ReviewApi; permissions: ReviewApi } | undefined;
  /** For one review; default 5 s. */
  timeoutMs?: number;
  metrics: MetricsRegistry;
  clock: Clock;
  log: Logger;
}

const unavailable: Verdict = { decision: 'unknown', message: 'there is no control plane to ask' };

/**
 * Authenticates and authorizes callers of the agent. A certificate comes first, then a bearer token, as in the reference; a
 * caller with neither is anonymous where the settings allow that. A bad credential is never treated as none.
 */
export function createAccess(options: AccessOptions): Access {
  const { settings, control, clock } = options;
  const byCertificate = certificateAuthenticator(() => clock.now());
  const parts = control === undefined ? undefined : reviewsOf(options, control);

  async function authenticate({ socket, authorization }: Credentials): Promise<Identified> {
    const holder = byCertificate(socket);
    if (typeof holder !== 'string') return holder;
    const { tokens, anonymous } = settings();
    const token = parseBearerToken(authorization);
    if (token !== undefined && tokens && parts !== undefined) return await parts.authenticate(token);
    const hasNoCredential = holder === 'none' && (authorization ?? '') === '';
    return hasNoCredential && anonymous ? anonymousCaller : undefined;
  }

  /*
   * `system:masters` is allowed everything without a review. The group may do everything in the control plane as well, so
   * the answer is known; and it is when the control plane is unreachable that an operator has to examine nodes. The group
   * comes from a certificate of the authority that the agent trusts, or from the control plane's review of a token.
   */
  async function authorize(caller: Caller, wanted: Wanted): Promise<Verdict> {
    if (settings().alwaysAllow || caller.groups.includes(mastersGroup)) return { decision: 'allow' };
    return parts === undefined ? unavailable : await parts.authorize(caller, wanted);
  }

  return { authenticate, authorize };
}

function reviewsOf(options: AccessOptions, control: NonNullable<AccessOptions['control']>) {
  const { nodeName, settings, timeoutMs, clock, log } = options;
  const reviewMetrics = createReviewMetrics(options.metrics);
  const [ofTokens, ofPermissions] = [reviewMetrics('token'), reviewMetrics('access')];
  const common = { timeoutMs, clock, log };
  return {
    authenticate: tokenAuthenticator({
      review: createReviewer({ ...common, api: control.tokens, task: 'review tokens', metrics: ofTokens }),
      ttlMs: () => settings().tokenTtlMs,
      metrics: ofTokens,
      clock,
    }),
    authorize: reviewedPermissions({
      nodeName,
      review: createReviewer({
        ...common,
        api: control.permissions,
        task: 'review what callers may',
        metrics: ofPermissions,
      }),
      ttlMs: (allowed) => (allowed ? settings().allowedTtlMs : settings().deniedTtlMs),
      metrics: ofPermissions,
      clock,
    }),
  };
}
