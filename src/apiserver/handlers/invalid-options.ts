import type { Cause } from '../../api/index.ts';
import { invalid } from '../../api/index.ts';
import type { ApiRequest } from './request.ts';

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions';

/** Throws 422, as the reference does, when there is a cause: options that can be parsed but are invalid. */
export function refuseInvalid(
  { registry }: Pick<ApiRequest, 'registry'>,
  kind: OptionsKind,
  causes: readonly Cause[],
): void {
  if (causes.length === 0) return;
  throw invalid({ group: 'meta', kind }, registry.groupSuffix, '', causes);
}
