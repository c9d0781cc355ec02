import type { Cause } from '../../../api/index.ts';
import { forbiddenValue, unsupportedValue } from '../../../api/index.ts';
import { refuseInvalid } from '../invalid-options.ts';
import type { ApiRequest } from '../request.ts';

/** Throws 422 when the parameters of a watch do not go together, with the causes that the reference gives. */
export function refuseWatchOptions(request: ApiRequest): void {
  refuseInvalid(request, 'ListOptions', watchCauses(request.query, request.registry.gates.WatchList));
}

/** With the gate off clients fall back when they are told so, and hang when they are not. */
function watchCauses(query: URLSearchParams, isWatchListOn: boolean): Cause[] {
  const causes: Cause[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const asksInitialEvents = query.has('sendInitialEvents');
  const forbid = (field: string, detail: string) => causes.push(forbiddenValue(field, detail));
  if (asksInitialEvents && match !== 'NotOlderThan') {
    forbid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (asksInitialEvents && !isWatchListOn) {
    const gate = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    forbid('sendInitialEvents', gate);
  }
  if (match === '') return causes;
  const field = 'resourceVersionMatch';
  if (!asksInitialEvents)
    forbid(field, `${field} is forbidden for watch unless sendInitialEvents is provided`);
  if (match !== 'NotOlderThan') causes.push(unsupportedValue(field, match, ['NotOlderThan']));
  if (query.get('continue')) forbid(field, `${field} is forbidden when continue is provided`);
  return causes;
}
