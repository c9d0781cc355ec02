import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CryptoKey, JWK } from 'jose';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createAuthority, issuePair } from '../../../../../src/base/x509/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';

/** An OpenID Connect issuer in a process of its own, over real TLS. */
export interface TestIssuer extends AsyncDisposable {
  readonly url: string;
  /** File with the authority of its certificate. */
  readonly caFile: string;
  /** Signs with another key from now on; the ones before are published as long as `keep` says so. */
  rotate(keep?: boolean): Promise<void>;
  /** What it answers at a path from now on; null is an error of the server. Answers how often it was asked so far. */
  publish(documents: Record<string, string | null>): Promise<number>;
  /** An ID token for the client `nodeward` that lives a minute, unless the claims say otherwise. */
  token(claims?: Record<string, unknown>, header?: { kid?: string }): Promise<string>;
}

const hourMs = 3600_000;

export async function startIssuer(): Promise<TestIssuer> {
  const folder = await temporaryFolder();
  const authority = await createAuthority('issuer-ca', hourMs, Date.now());
  const caFile = join(folder.path, 'ca.crt');
  await writeFile(caFile, authority.cert);
  const tls = await issuePair(authority, {
    subject: { commonName: 'issuer', organizations: [] },
    names: { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] },
    use: 'server',
    lifetimeMs: hourMs,
    now: Date.now(),
  });
  const child = fork(join(import.meta.dirname, 'issuer-process.ts'));
  const answer = once(child, 'message');
  child.send({ tls });
  const [{ port }] = await answer;
  const url = `https://127.0.0.1:${port}`;
  let keys: { kid: string; jwk: JWK; privateKey: CryptoKey }[] = [];

  async function publish(documents: Record<string, string | null>): Promise<number> {
    const told = once(child, 'message');
    child.send({ documents });
    const [{ asked }] = await told;
    return asked;
  }

  async function rotate(keep = true): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const kid = `key-${keys.length}-${Math.random()}`;
    const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig' };
    keys = [...(keep ? keys : []), { kid, jwk, privateKey }];
    await publish({ '/keys': JSON.stringify({ keys: keys.map((key) => key.jwk) }) });
  }

  await rotate();
  await publish({
    '/.well-known/openid-configuration': JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }),
  });
  return {
    url,
    caFile,
    rotate,
    publish,
    async token(claims = {}, { kid } = {}) {
      const newest = keys.at(-1);
      if (newest === undefined) throw new Error('an issuer without a key');
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: url, aud: 'nodeward', sub: 'alice', iat: now, exp: now + 60, ...claims };
      return await new SignJWT(all)
        .setProtectedHeader({ alg: 'RS256', kid: kid ?? newest.kid })
        .sign(newest.privateKey);
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      await folder[Symbol.asyncDispose]();
    },
  };
}
