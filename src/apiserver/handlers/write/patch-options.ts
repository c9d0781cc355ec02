import type { Cause } from '../../../api/index.ts';
import { forbiddenValue, requiredValue } from '../../../api/index.ts';
import { parseOptionalBoolean } from '../parameters.ts';
import type { ApiRequest } from '../request.ts';
import type { WriteOptions } from './write-options.ts';
import { readWriteOptions } from './write-options.ts';

export interface PatchOptions extends WriteOptions {
  /** Whether an apply takes over fields that others manage. */
  force: boolean;
}

/** The parameters of a patch; throws 400, and 422 with everything that is wrong with them. */
export function readPatchOptions(request: ApiRequest): PatchOptions {
  const force = parseOptionalBoolean(request.query, 'force');
  const causes = request.patch?.format === 'apply' ? applyCauses(request) : forceCauses(force);
  return { ...readWriteOptions(request, 'PatchOptions', causes), force: force ?? false };
}

/** An apply must name its field manager: the User-Agent header is no reliable name. */
function applyCauses({ query }: ApiRequest): Cause[] {
  return query.get('fieldManager') ? [] : [requiredValue('fieldManager', 'is required for apply patch')];
}

function forceCauses(force: boolean | undefined): Cause[] {
  return force === undefined ? [] : [forbiddenValue('force', 'may not be specified for non-apply patch')];
}
