import type { AccessQuery } from '../../api/index.ts';
import { accessQueryKind } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { Operation } from '../registry/index.ts';
import { attributesOf, refuseTwofoldSelectors, withoutSelectors, withoutStatus } from '../reviews/index.ts';
import type { ExplainContext } from './explain.ts';
import { listWhatCan } from './what-can.ts';
import { listWhoCan } from './who-can.ts';

/** The operation AccessQuery: who may do something, or what may a user do? */
export function createAccessQuery(parts: () => ExplainContext): Operation<AccessQuery> {
  return {
    body: accessQueryKind,
    prepare({ body, registry }) {
      const query = withoutStatus(body);
      const { whoCan: action } = query.spec ?? {};
      if (action === undefined) return query;
      if (registry.gates.AuthorizeWithSelectors) refuseTwofoldSelectors(action);
      else query.spec = { ...query.spec, whoCan: withoutSelectors(action) };
      return query;
    },
    async run({ body, context }) {
      const status = await answer(body, context.user, parts());
      return { object: { ...body, metadata: body.metadata ?? {}, status } };
    },
  };
}

async function answer({ spec }: AccessQuery, caller: User, parts: ExplainContext) {
  if (spec.whoCan === undefined) {
    const { user: name = '', groups = [], namespace = '' } = spec.whatCan ?? {};
    const subject = name === '' && groups.length === 0 ? caller : { name, groups, extra: {} };
    return await listWhatCan(parts, subject, namespace);
  }
  const { attributes, complaints } = attributesOf(spec.whoCan);
  const status = await listWhoCan(parts, attributes);
  return complaints.length === 0 ? status : { ...status, errors: [...(status.errors ?? []), ...complaints] };
}
