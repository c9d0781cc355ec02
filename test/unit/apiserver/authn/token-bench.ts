import { createPrivateKey, createPublicKey } from 'node:crypto';
import type {
  ServiceAccountTokens,
  TokenClaims,
  TokenObject,
  TokenObjects,
} from '../../../../src/apiserver/authn/index.ts';
import { serviceAccountTokens } from '../../../../src/apiserver/authn/index.ts';
import type { ServiceAccountKey } from '../../../../src/apiserver/pki/index.ts';
import { generateKeyPem } from '../../../../src/base/x509/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Everything that a test of tokens needs, without a server. */
export interface TokenBench {
  clock: ManualClock;
  key: ServiceAccountKey;
  tokens: ServiceAccountTokens;
  /** What there is, by `Kind namespace/name`. */
  objects: Map<string, TokenObject | 'unreadable'>;
  /** Claims of a token that is good now for one hour; the account `ci/builder` is there. */
  claims(change?: Partial<TokenClaims>): TokenClaims;
}

export const builder = { name: 'builder', uid: 'uid-of-builder' };

export async function tokenBench(): Promise<TokenBench> {
  const clock = createManualClock();
  const key = await tokenKey();
  const objects = new Map<string, TokenObject | 'unreadable'>([
    ['ServiceAccount ci/builder', { uid: builder.uid, goneMs: undefined }],
  ]);
  const finder: TokenObjects = {
    find: (kind, namespace, name) => objects.get(`${kind} ${kind === 'Node' ? '' : namespace}/${name}`),
  };
  const tokens = serviceAccountTokens({ key, clock, objects: finder });
  return {
    clock,
    key,
    tokens,
    objects,
    claims(change = {}) {
      const issuedAt = Math.floor(clock.now() / 1000);
      const audiences = tokens.audiences;
      const common = { id: 'id-of-token', audiences, issuedAt, expiresAt: issuedAt + 3600 };
      return { ...common, namespace: 'ci', account: builder, ...change };
    },
  };
}

async function tokenKey(): Promise<ServiceAccountKey> {
  const privateKey = createPrivateKey(await generateKeyPem());
  return { id: 'key', algorithm: 'ES256', privateKey, publicKey: createPublicKey(privateKey), previous: [] };
}

/** The parts of a token, decoded. */
export function partsOf(token: string): {
  header: Record<string, unknown>;
  payload: Record<string, unknown>;
} {
  const [header = '', payload = ''] = token.split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  return { header: decode(header), payload: decode(payload) };
}

/** A token with other contents and the signature as it was. */
export function tampered(token: string, change: { header?: object; payload?: object }): string {
  const { header, payload } = partsOf(token);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const head = encode({ ...header, ...change.header });
  return [head, encode({ ...payload, ...change.payload }), token.split('.')[2]].join('.');
}
