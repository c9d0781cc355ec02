import type { AccessDiff } from '../../api/index.ts';
import { accessDiffKind, invalid } from '../../api/index.ts';
import { storedRoles } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { questionIn } from '../reviews/index.ts';
import { judge } from './diff/judge.ts';
import { readWritten } from './diff/written.ts';
import type { Explaining } from './explain.ts';
import { opaqueAuthorizers } from './opaque.ts';

/** AccessDiff: who gains and who loses which rights when these roles and bindings are written? */
export function accessDiff(parts: () => Explaining): Operation<AccessDiff> {
  return {
    body: accessDiffKind,
    prepare: ({ body }) => questionIn(body),
    async run({ body, registry }) {
      const { change, causes, notes } = await readWritten(registry, body.spec);
      const named = { ...accessDiffKind, resource: accessDiffKind.kind };
      if (causes.length > 0) throw invalid(named, registry.groupSuffix, '', [...causes]);
      const { index, authorizers } = parts();
      const opaque = await opaqueAuthorizers(authorizers);
      const found = await judge(index, storedRoles(registry), change);
      const beside = opaque.map((name) => `only roles are looked at: ${name} may allow and deny besides`);
      const errors = [...notes, ...(found.errors ?? []), ...beside];
      const status = {
        ...found,
        ...(opaque.length === 0 ? {} : { incomplete: true }),
        ...(errors.length === 0 ? {} : { errors }),
      };
      return { object: { ...body, metadata: body.metadata ?? {}, status } };
    },
  };
}
