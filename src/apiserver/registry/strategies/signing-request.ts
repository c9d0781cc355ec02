import type { CertificateSigningRequest } from '../../../api/index.ts';
import { forbiddenValue, formatTime } from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';

/*
 * Whether a request is granted and which certificate answers it are two decisions with a path each, so that different
 * callers may make them: `approval` takes all conditions and no certificate, `status` the certificate and all
 * conditions but those two.
 */

type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number];

const approvals = ['Approved', 'Denied'];

export const signingRequestStrategy: Strategy<CertificateSigningRequest> = {
  /** Who asks is what the server knows of the caller, whatever the request says. */
  beforeCreate(request, { user }) {
    if (request.spec === undefined) return request; // validation tells, after this
    const { uid: _uid, extra: _extra, ...spec } = request.spec;
    const extra = Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]]));
    return {
      ...request,
      spec: {
        ...spec,
        username: user.name,
        groups: [...user.groups],
        ...(user.uid === undefined ? {} : { uid: user.uid }),
        ...(Object.keys(extra).length === 0 ? {} : { extra }),
      },
    };
  },
  beforeUpdate(next, old, { subresource, now }) {
    if (subresource === '') return next;
    const before = byType(old);
    const kept = (next.status?.conditions ?? []).map((given) => {
      const known = before.get(given.type);
      if (subresource === 'status' && approvals.includes(given.type)) return known ?? given;
      return withTimes(given, known, now);
    });
    const { conditions: _given, ...rest } = (subresource === 'approval' ? old.status : next.status) ?? {};
    return { ...next, status: { ...rest, ...(kept.length === 0 ? {} : { conditions: kept }) } };
  },
  check(next, old, subresource) {
    if (subresource !== 'status') return [];
    const [after, before] = [byType(next), byType(old)];
    const added = approvals.filter((type) => after.has(type) && !before.has(type));
    return added.map((type) =>
      forbiddenValue('status.conditions', `updates may not add a condition of type "${type}"`),
    );
  },
};

function byType(request: CertificateSigningRequest | undefined): Map<string, Condition> {
  return new Map((request?.status?.conditions ?? []).map((condition) => [condition.type, condition]));
}

/** With the times that the client left out; `known` is the stored condition of that type. */
function withTimes(given: Condition, known: Condition | undefined, now: number): Condition {
  const since = known?.status === given.status ? known.lastTransitionTime : undefined;
  return {
    ...given,
    lastUpdateTime: given.lastUpdateTime ?? formatTime(now),
    lastTransitionTime: given.lastTransitionTime ?? since ?? formatTime(now),
  };
}
