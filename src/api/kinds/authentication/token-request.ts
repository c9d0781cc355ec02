import type { Infer } from '../../schema/index.ts';
import { field, int64, list, map, required, string, struct, time } from '../../schema/index.ts';
import { causesOf, forbiddenValue, invalidValue, tooLongValue, tooManyItems } from '../cause.ts';
import { defineBody, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';

const boundObjectReference = struct('BoundObjectReference', {
  kind: field(1, string, 'Pod, Secret or Node.'),
  apiVersion: field(2, string, 'API version of the object.'),
  name: field(3, string, 'Name of the object.'),
  uid: field(4, string, 'UID of the object; when it differs there is no token.'),
});

const spec = struct('TokenRequestSpec', {
  audiences: required(1, list(string), 'Whom the token is for; the API server when empty.'),
  expirationSeconds: field(4, int64, 'How long the token is good: 600 to 2^32, default 3600.', {
    pointer: true,
    written: true,
  }),
  boundObjectRef: field(3, boundObjectReference, 'An object that the token ends with.', { written: true }),
  attestations: field(5, map(list(string)), 'Statements for webhooks; none are taken.'),
});

const status = struct('TokenRequestStatus', {
  token: required(1, string, 'The token.'),
  expirationTimestamp: required(2, time, 'When the token ends.'),
});

const root = objectStruct('TokenRequest', {
  spec: required(2, spec, 'What is asked for.'),
  status: field(3, status, 'The token, filled in by the server.', { default: {} }),
});

/** Asks for a token of a service account. */
export interface TokenRequest extends Infer<typeof root> {}
export interface BoundObjectReference extends Infer<typeof boundObjectReference> {}

const defaultSeconds = 3600;
const minSeconds = 600;
const maxSeconds = 2 ** 32;

/** Keeps tokens shorter than the server's limit for tokens and than the limit of request headers. */
const maxAudiences = 100;
const audiencesLimitBytes = 4096;
/** JSON escapes these with a backslash, and tokens that contain one are not accepted. */
const escaped = /["\\\p{Cc}\p{Surrogate}]/u;

function audiencesCauses(audiences: readonly string[]): Cause[] {
  const field = 'spec.audiences';
  if (audiences.length > maxAudiences) return [tooManyItems(field, audiences.length, maxAudiences)];
  const bytes = audiences.reduce((sum, audience) => sum + Buffer.byteLength(audience), 0);
  if (bytes > audiencesLimitBytes) return [tooLongValue(field, audiencesLimitBytes)];
  return causesOf(audiences, (audience, index) =>
    escaped.test(audience)
      ? [forbiddenValue(`${field}[${index}]`, 'may not contain quotes, backslashes or control characters')]
      : [],
  );
}

function validate({ spec }: TokenRequest): Cause[] {
  const { audiences, expirationSeconds = 0, attestations = {} } = spec;
  const causes = audiencesCauses(audiences);
  const field = 'spec.expirationSeconds';
  if (expirationSeconds < minSeconds) {
    causes.push(invalidValue(field, expirationSeconds, 'may not specify a duration less than 10 minutes'));
  }
  if (expirationSeconds > maxSeconds) {
    const detail = 'may not specify a duration larger than 2^32 seconds';
    causes.push(invalidValue(field, expirationSeconds, detail));
  }
  if (Object.keys(attestations).length > 0) {
    const detail = 'attestations may only be specified with a webhook bound object reference';
    causes.push(forbiddenValue('spec.attestations', detail));
  }
  return causes;
}

/** The body of serviceaccounts/token. */
export const tokenRequest = defineBody<TokenRequest>({
  group: 'authentication',
  version: 'v1',
  kind: 'TokenRequest',
  doc: 'Asks for a token of a service account.',
  root,
  sensitive: true,
  default(request) {
    if (request.spec === undefined) return request; // validation reports it afterwards
    const { audiences = [], expirationSeconds = defaultSeconds } = request.spec;
    return { ...request, spec: { ...request.spec, audiences, expirationSeconds } };
  },
  validate,
});
