import type { AccessDiff } from '../../api/index.ts';
import { accessDiffKind, invalid } from '../../api/index.ts';
import { createRoleReader } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { withoutStatus } from '../reviews/index.ts';
import { computeAccessDiff } from './diff/compute-diff.ts';
import { readPolicyChange } from './diff/read-policy-change.ts';
import type { ExplainContext } from './explain.ts';
import { findUnlistedAuthorizers } from './unlisted-authorizers.ts';

/** The operation AccessDiff: who gains and who loses which rights when these roles and bindings are written? */
export function createAccessDiff(parts: () => ExplainContext): Operation<AccessDiff> {
  return {
    body: accessDiffKind,
    prepare: ({ body }) => withoutStatus(body),
    async run({ body, registry }) {
      const { change, causes, notes } = await readPolicyChange(registry, body.spec);
      const reviewedKind = { ...accessDiffKind, resource: accessDiffKind.kind };
      if (causes.length > 0) throw invalid(reviewedKind, registry.groupSuffix, '', [...causes]);
      const { index, authorizers } = parts();
      const unlisted = await findUnlistedAuthorizers(authorizers);
      const found = await computeAccessDiff(index, createRoleReader(registry), change);
      const omissions = unlisted.map(
        (name) => `only roles are looked at: ${name} may allow and deny besides`,
      );
      const errors = [...notes, ...(found.errors ?? []), ...omissions];
      const status = {
        ...found,
        ...(unlisted.length === 0 ? {} : { incomplete: true }),
        ...(errors.length === 0 ? {} : { errors }),
      };
      return { object: { ...body, metadata: body.metadata ?? {}, status } };
    },
  };
}
