import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import { certificateAuthenticator } from './certificates.ts';
import { createReviewFigures } from './figures.ts';
import { anonymousCaller, mastersGroup } from './groups.ts';
import { reviewedPermissions } from './permissions.ts';
import type { ReviewApi } from './review.ts';
import { createReviewer } from './review.ts';
import { bearerToken, tokenAuthenticator } from './tokens.ts';
import type { Access, AccessSettings, Caller, Identified, Shown, Verdict, Wanted } from './types.ts';

export interface AccessOptions {
  nodeName: string;
  /** What counts now. */
  settings(): AccessSettings;
  /**
   * The control plane, over connections of their own: strangers can make the agent ask whose a token is, and that must
   * not hold up the question what somebody may. Undefined in standalone mode.
   */
  control: { tokens: ReviewApi; permissions: ReviewApi } | undefined;
  /** For one review; default 5 s. */
  timeoutMs?: number;
  metrics: MetricsRegistry;
  clock: Clock;
  log: Logger;
}

const unasked: Verdict = { decision: 'unknown', message: 'there is no control plane to ask' };

/**
 * Who calls the agent, and what they may. A certificate comes first, then a bearer token, as in the reference; who shows
 * neither is nobody in particular where the settings let such in. A bad credential is never taken for none.
 */
export function createAccess(options: AccessOptions): Access {
  const { settings, control, clock } = options;
  const byCertificate = certificateAuthenticator(() => clock.now());
  const parts = control === undefined ? undefined : reviewsOf(options, control);

  async function authenticate({ socket, authorization }: Shown): Promise<Identified> {
    const holder = byCertificate(socket);
    if (typeof holder !== 'string') return holder;
    const { tokens, anonymous } = settings();
    const token = bearerToken(authorization);
    if (token !== undefined && tokens && parts !== undefined) return await parts.authenticate(token);
    const showsNothing = holder === 'none' && (authorization ?? '') === '';
    return showsNothing && anonymous ? anonymousCaller : undefined;
  }

  /*
   * `system:masters` may without a question. Whoever belongs to it may do everything in the control plane as well, so
   * that its answer is known; and when the control plane is away is when an operator has to look at its nodes. The group
   * is told by a certificate of the authority that the agent trusts, or by the control plane itself of a token.
   */
  async function authorize(caller: Caller, wanted: Wanted): Promise<Verdict> {
    if (settings().alwaysAllow || caller.groups.includes(mastersGroup)) return { decision: 'allow' };
    return parts === undefined ? unasked : await parts.authorize(caller, wanted);
  }

  return { authenticate, authorize };
}

function reviewsOf(options: AccessOptions, control: NonNullable<AccessOptions['control']>) {
  const { nodeName, settings, timeoutMs, clock, log } = options;
  const figures = createReviewFigures(options.metrics);
  const [ofTokens, ofPermissions] = [figures('token'), figures('access')];
  const common = { timeoutMs, clock, log };
  return {
    authenticate: tokenAuthenticator({
      review: createReviewer({ ...common, api: control.tokens, task: 'review tokens', figures: ofTokens }),
      ttlMs: () => settings().tokenTtlMs,
      figures: ofTokens,
      clock,
    }),
    authorize: reviewedPermissions({
      nodeName,
      review: createReviewer({
        ...common,
        api: control.permissions,
        task: 'review what callers may',
        figures: ofPermissions,
      }),
      ttlMs: (allowed) => (allowed ? settings().allowedTtlMs : settings().deniedTtlMs),
      figures: ofPermissions,
      clock,
    }),
  };
}
