import type { AccessOptions, ReviewApi } from '../../../../../src/agent/server/access/index.ts';
import type { ApiObject, Kind, SubjectAccessReview, TokenReview } from '../../../../../src/api/index.ts';
import { isRecord } from '../../../../../src/api/index.ts';

export interface StandIn {
  control: NonNullable<AccessOptions['control']>;
  /** Who each token is of. */
  tokens: Map<
    string,
    { username: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> }
  >;
  /** Lines such as `ann get metrics`, of who may what. */
  allowed: Set<string>;
  /** The specs of all reviews that were asked for. */
  asked: { tokens: TokenReview['spec'][]; permissions: SubjectAccessReview['spec'][] };
  /** What happens before a review is answered; it may reject. */
  before(signal: AbortSignal | undefined): Promise<void>;
}

/** A control plane that answers reviews from tables. */
export function standInControlPlane(): StandIn {
  const standIn: StandIn = {
    control: {
      tokens: reviewing((spec) => {
        const { token } = spec;
        standIn.asked.tokens.push({ ...spec, token: String(token) });
        const user = standIn.tokens.get(String(token));
        return user === undefined ? { authenticated: false } : { authenticated: true, user };
      }),
      permissions: reviewing((spec) => {
        standIn.asked.permissions.push(spec);
        const { verb, subresource } = isRecord(spec['resourceAttributes']) ? spec['resourceAttributes'] : {};
        return { allowed: standIn.allowed.has(`${spec['user']} ${verb} ${subresource}`) };
      }),
    },
    tokens: new Map(),
    allowed: new Set(),
    asked: { tokens: [], permissions: [] },
    before: () => Promise.resolve(),
  };

  function reviewing(answer: (spec: Record<string, unknown>) => object): ReviewApi {
    return {
      async create<T extends ApiObject>(_kind: Kind<T>, object: T, options: { signal?: AbortSignal } = {}) {
        const spec: unknown = Reflect.get(object, 'spec');
        const status = answer(isRecord(spec) ? spec : {});
        await standIn.before(options.signal);
        return { ...object, status };
      },
    };
  }
  return standIn;
}
