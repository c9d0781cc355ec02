import type { ApiObject, Kind } from '../../../../src/api/index.ts';
import { apiVersionOf, decodeObject, findMissingFields } from '../../../../src/api/index.ts';
import { jsonBody } from '../../../support/index.ts';

/** An object as a client sends it, after decoding and defaulting. */
export function received<T extends ApiObject>(kind: Kind<T>, sent: object, groupSuffix = 'k8s.io'): T {
  const { object } = decodeObject(kind, apiVersionOf(kind, groupSuffix), jsonBody(JSON.stringify(sent)));
  return kind.default(kind.prepare(object, undefined));
}

/** What is wrong with it, as `field: message`; `old` is what it replaces. */
export function causesOf<T extends ApiObject>(kind: Kind<T>, sent: object, old?: object): string[] {
  const next = received(kind, sent);
  const causes = findMissingFields(kind.root, next);
  if (causes.length === 0) causes.push(...kind.validate(next, old && received(kind, old)));
  return causes.map(({ field, message }) => `${field}: ${message}`);
}
