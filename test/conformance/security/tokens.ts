import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { ApiTester } from '../../unit/apiserver/support/api-tester.ts';
import type { SecuredServer } from './secured-server.ts';

const inDefault = '/api/v1/namespaces/default';
export const accounts = `${inDefault}/serviceaccounts`;
export const whoAmI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** A token of a service account, as the server makes it. */
export async function tokenOf(admin: ApiTester, account: string, spec: object = {}): Promise<string> {
  const { status } = await admin.must('POST', `${accounts}/${account}/token`, { spec });
  const token = status?.['token'];
  if (typeof token === 'string') return token;
  throw new Error(`no token of ${account}`);
}

type Claims = Record<string, unknown>;
type Header = Record<string, unknown>;

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part = ''): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());

/**
 * Tokens that are wrong in one thing each; `good` is one that the server has made, and whoever has its key could make all
 * of these.
 */
export async function forgedTokens({ tokenKey }: SecuredServer, good: string): Promise<[string, string][]> {
  const [head, body, signature = ''] = good.split('.');
  const [header, claims] = [decoded(head), decoded(body)];
  const key = createPrivateKey(tokenKey);
  const publicKey = createPublicKey(key);
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Math.floor(Date.now() / 1000);
  const signed = (changed: Claims, changedHeader: Header = {}, by = key) =>
    new SignJWT({ ...claims, ...changed })
      .setProtectedHeader({ ...header, alg: 'ES256', ...changedHeader })
      .sign(by);
  const byHmac = (secret: string | Buffer) =>
    new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256' }).sign(Buffer.from(secret));
  const part = (changed: Claims) => `${head}.${encoded({ ...claims, ...changed })}.${signature}`;
  const otherJwk = other.publicKey.export({ format: 'jwk' });
  const account = { name: 'admin', uid: randomUUID() };
  const sub = 'system:serviceaccount:kube-system:admin';
  return [
    ['expired', await signed({ iat: now - 7200, nbf: now - 7200, exp: now - 3600 })],
    ['not yet valid', await signed({ nbf: now + 3600 })],
    ['without an end', await signed({ exp: undefined })],
    ['for another audience', await signed({ aud: ['https://elsewhere.example'] })],
    ['for nobody', await signed({ aud: [] })],
    ['of another issuer', await signed({ iss: 'https://elsewhere.example' })],
    ['of no issuer', await signed({ iss: undefined })],
    ['alg none', `${encoded({ ...header, alg: 'none' })}.${body}.`],
    ['alg none with a signature', `${encoded({ ...header, alg: 'none' })}.${body}.${signature}`],
    ['alg nOnE', `${encoded({ ...header, alg: 'nOnE' })}.${body}.${signature}`],
    ['no alg', `${encoded({ kid: header['kid'] })}.${body}.${signature}`],
    ['HS256 with the public key in PEM', await byHmac(publicPem)],
    ['HS256 with the public key in DER', await byHmac(publicKey.export({ type: 'spki', format: 'der' }))],
    ['HS256 with the public key as JWK', await byHmac(JSON.stringify(publicKey.export({ format: 'jwk' })))],
    ['HS256 with the key id', await byHmac(`${header['kid']}`)],
    ['a kid that is a path', await signed({}, { kid: '../../../../dev/null' }, other.privateKey)],
    ['a kid that is a query', await signed({}, { kid: "x' UNION SELECT 'y" }, other.privateKey)],
    ['a kid that is every object’s', await signed({}, { kid: 'constructor' }, other.privateKey)],
    ['a kid of a prototype', await signed({}, { kid: '__proto__' }, other.privateKey)],
    ['an empty kid', await signed({}, { kid: '' }, other.privateKey)],
    ['the right kid and another key', await signed({}, {}, other.privateKey)],
    ['a key that comes along', await signed({}, { jwk: otherJwk }, other.privateKey)],
    ['an address of keys', await signed({}, { jku: 'https://127.0.0.1:1/jwks' }, other.privateKey)],
    ['an address of certificates', await signed({}, { x5u: 'https://127.0.0.1:1/x' }, other.privateKey)],
    ['a critical extension', `${encoded({ ...header, crit: ['x'], x: 1 })}.${body}.${signature}`],
    [
      'another subject',
      part({ sub, 'kubernetes.io': { namespace: 'kube-system', serviceaccount: account } }),
    ],
    ['another end', part({ exp: now + 864_000 })],
    ['another subject than its account, signed', await signed({ sub })],
    [
      'an account that was never there',
      await signed({ sub, 'kubernetes.io': { namespace: 'kube-system', serviceaccount: account } }),
    ],
    ['another signature', `${head}.${body}.${hash('sha512', signature, 'base64url')}`],
    ['a signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['half a signature', `${head}.${body}.${signature.slice(0, 43)}`],
    ['no signature', `${head}.${body}.`],
    ['two parts', `${head}.${body}`],
    ['five parts', `${good}.${head}.${body}`],
    ['another first letter', `${good.startsWith('e') ? 'f' : 'e'}${good.slice(1)}`],
    ['no claims', `${head}.${encoded({})}.${signature}`],
    ['no JSON', `${head}.${Buffer.from('{').toString('base64url')}.${signature}`],
    ['as long as a head can be', `${head}.${body}.${'A'.repeat(12_000)}`],
    ['a word', 'token'],
    ['a bootstrap token that is none', 'abcdef.0123456789abcdef'],
  ];
}

/** Tokens that were good, and known as such, until what they were for was deleted. */
export async function outlivedTokens(server: SecuredServer): Promise<[string, string][]> {
  const { admin } = server;
  const brief = { metadata: { name: 'brief' } };
  for (const name of ['gone', 'again', 'bound']) await admin.must('POST', accounts, { metadata: { name } });
  await admin.must('POST', `${inDefault}/secrets`, brief);
  const spec = { serviceAccountName: 'bound', containers: [{ name: 'main', image: 'busybox' }] };
  await admin.must('POST', `${inDefault}/pods`, { ...brief, spec });
  const boundTo = (kind: string) => ({ boundObjectRef: { apiVersion: 'v1', kind, name: 'brief' } });
  const tokens: [string, string][] = [
    ['of an account that was deleted', await tokenOf(admin, 'gone')],
    ['of an account that was made anew', await tokenOf(admin, 'again')],
    ['bound to a Secret that was deleted', await tokenOf(admin, 'bound', boundTo('Secret'))],
    ['bound to a Pod that was deleted', await tokenOf(admin, 'bound', boundTo('Pod'))],
  ];
  for (const [what, token] of tokens) {
    const { code } = await server.bearer(token).ask('POST', whoAmI, { body: {} });
    assert.equal(code, 201, what);
  }
  for (const path of [`${accounts}/gone`, `${accounts}/again`, `${inDefault}/secrets/brief`]) {
    await admin.must('DELETE', path);
  }
  await admin.must('DELETE', `${inDefault}/pods/brief?gracePeriodSeconds=0`);
  await admin.must('POST', accounts, { metadata: { name: 'again' } });
  return tokens;
}
