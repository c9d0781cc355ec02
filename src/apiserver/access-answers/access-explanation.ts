import type { AccessExplanation } from '../../api/index.ts';
import { accessExplanationKind } from '../../api/index.ts';
import type { Operation } from '../registry/index.ts';
import { attributesOf, prepareReview, toUser } from '../reviews/index.ts';
import type { ExplainContext } from './explain.ts';
import { explain } from './explain.ts';
import { isServed } from './served-resources.ts';

/** The operation AccessExplanation: why may a user do something, or why not? */
export function createAccessExplanation(parts: () => ExplainContext): Operation<AccessExplanation> {
  return {
    body: accessExplanationKind,
    prepare: ({ body, registry }) => prepareReview(body, registry),
    async run({ body, context }) {
      const { user = '', groups = [] } = body.spec;
      const subject = user === '' && groups.length === 0 ? context.user : toUser(body.spec);
      const { attributes, complaints } = attributesOf(body.spec);
      const { remedy, ...status } = await explain(parts(), subject, attributes);
      const offered = remedy !== undefined && isServed(attributes) ? { remedy } : {};
      const errors = [...(status.errors ?? []), ...complaints];
      return {
        object: { ...body, metadata: body.metadata ?? {}, status: { ...status, ...offered, errors } },
      };
    },
  };
}
