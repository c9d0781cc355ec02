import type { ServiceAccountTokens } from '../authn/index.ts';
import type { DocumentRoute } from '../http/index.ts';

const configurationPath = '/.well-known/openid-configuration';
const keysPath = '/openid/v1/jwks';

/**
 * What others need to check the tokens of service accounts without asking for a TokenReview: who issues them, and the
 * public keys (OpenID Connect Discovery 1.0, section 4; RFC 7517). The address of the keys is relative to the issuer's
 * name, which within a cluster leads here.
 */
export function issuerDocuments({ issuer, keys }: ServiceAccountTokens): DocumentRoute[] {
  const configuration = {
    issuer,
    jwks_uri: `${issuer}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
  const set = {
    keys: keys.map(({ id, algorithm, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      use: 'sig',
      kid: id,
      alg: algorithm,
    })),
  };
  return [
    document(configurationPath, 'application/json', configuration),
    document(keysPath, 'application/jwk-set+json', set),
  ];
}

/** Keys change with a restart only; an hour is what verifiers keep them for at most. */
function document(path: string, contentType: string, content: object): DocumentRoute {
  const body = JSON.stringify(content);
  return {
    path,
    respond: async (_request, reply) =>
      reply.header('content-type', contentType).header('cache-control', 'public, max-age=3600').send(body),
  };
}
