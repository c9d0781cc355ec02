import type { Job } from '../../../api/index.ts';
import { IndexSet } from './indexes.ts';
import { indexLimit } from './job-pods.ts';

/** Why an indexed Job has succeeded although not all of its indexes have; undefined: it has not. */
export function findSuccess(job: Job, succeeded: IndexSet): string | undefined {
  const rules = job.spec?.successPolicy?.rules ?? [];
  if (succeeded.size === 0) return undefined;
  const at = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeeded.size >= (succeededCount ?? Number.POSITIVE_INFINITY);
    const wanted = IndexSet.parse(succeededIndexes, indexLimit(job));
    return succeeded.countCommon(wanted) >= (succeededCount ?? wanted.size);
  });
  return at < 0 ? undefined : `Matched rules at index ${at}`;
}
