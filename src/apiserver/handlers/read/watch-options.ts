import type { Cause } from '../../../api/index.ts';
import { forbiddenValue, unsupportedValue } from '../../../api/index.ts';
import { refuseInvalid } from '../invalid-options.ts';
import type { ApiRequest } from '../request.ts';

/** Throws 422 with the causes of the reference when the parameters of a watch contradict each other. */
export function refuseWatchOptions(request: ApiRequest): void {
  refuseInvalid(request, 'ListOptions', watchCauses(request.query, request.registry.gates.WatchList));
}

/** With the gate off clients fall back on this error; without it they would wait forever. */
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
