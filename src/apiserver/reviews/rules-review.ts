import type { SelfSubjectRulesReview } from '../../api/index.ts';
import { StatusError, selfSubjectRulesReviewKind } from '../../api/index.ts';
import type { Authorizer, RuleList } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { withoutStatus } from './question.ts';

const unlistable: RuleList = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  errors: ['the authorizer cannot list its rules'],
};

/** SelfSubjectRulesReview: what may the caller do in a namespace, as far as that can be listed? */
export function selfSubjectRulesReview(authorizer: Authorizer): Operation<SelfSubjectRulesReview> {
  return {
    body: selfSubjectRulesReviewKind,
    prepare({ body }) {
      if (body.spec?.namespace) return withoutStatus(body);
      throw new StatusError('BadRequest', 'no namespace on request: set spec.namespace');
    },
    async run({ body, context }) {
      const { namespace = '' } = body.spec;
      const list = (await authorizer.rules?.(context.user, namespace)) ?? unlistable;
      const { resourceRules, nonResourceRules, incomplete, errors } = list;
      const evaluationError = errors.length === 0 ? {} : { evaluationError: errors.join('; ') };
      const status = { resourceRules, nonResourceRules, incomplete, ...evaluationError };
      const object = { ...body, metadata: body.metadata ?? {}, status };
      return { object };
    },
  };
}
