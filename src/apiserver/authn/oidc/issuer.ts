import type { JWTVerifyGetKey } from 'jose';
import { isRecord, parseJson } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';

export interface IssuerOptions {
  url: string;
  /** PEM; default the authorities of the system. */
  ca: string | undefined;
  clock: Clock;
}

/** The keys that an issuer signs with, fetched when first needed and again when a token names an unknown one. */
export interface Issuer extends AsyncDisposable {
  /** Throws when the keys cannot be had, or have none for the token. */
  key: JWTVerifyGetKey;
}

const timeoutMs = 10_000;
const maxDocumentBytes = 1024 * 1024;
/** Any client can send tokens with invented key ids: they must not cause a request to the issuer each time. */
const cooldownMs = 10_000;
/** A key that its issuer has withdrawn is good for no longer than this. */
const freshMs = 10 * 60_000;
/** While its issuer cannot be reached, for no longer than this. */
const maxMs = 60 * 60_000;

export async function openIssuer({ url, ca, clock }: IssuerOptions): Promise<Issuer> {
  const { createLocalJWKSet, errors } = await import('jose');
  const { Agent, request } = await import('undici'); // large, and needed only with an issuer
  const agent = new Agent({ connect: ca === undefined ? {} : { ca }, connectTimeout: timeoutMs });
  let keys: { resolve: JWTVerifyGetKey; sinceMs: number } | undefined;
  let triedMs = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  async function get(address: string): Promise<Record<string, unknown>> {
    const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await request(address, { dispatcher: agent, ...limits, signal });
    if (statusCode !== 200) throw new Error(`${address} answered ${statusCode}`);
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of body) {
      const chunk: Uint8Array = part;
      bytes += chunk.length;
      if (bytes > maxDocumentBytes)
        throw new Error(`${address} answered more than ${maxDocumentBytes} bytes`);
      parts.push(Buffer.from(chunk));
    }
    const { value } = parseJson(Buffer.concat(parts).toString('utf8'));
    if (!isRecord(value)) throw new Error(`${address} answered no JSON object`);
    return value;
  }

  async function fetchKeys(): Promise<void> {
    triedMs = clock.monotonicMs();
    const document = await get(`${url.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (document['issuer'] !== url) throw new Error(`${url} says that it is another issuer`);
    const address = document['jwks_uri'];
    if (typeof address !== 'string' || !address.startsWith('https://')) {
      throw new Error(`${url} names no https address of its keys`);
    }
    const set = await get(address);
    const list: unknown = set['keys'];
    if (!Array.isArray(list)) throw new Error(`${address} answered no set of keys`);
    keys = { resolve: createLocalJWKSet({ keys: list.filter(isRecord) }), sinceMs: clock.monotonicMs() };
  }

  /** Concurrent calls share one request. */
  async function refresh(): Promise<void> {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined;
    });
    await fetching;
  }
  const ageMs = () => (keys === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - keys.sinceMs);
  const isDue = () => clock.monotonicMs() - triedMs >= cooldownMs;

  return {
    async key(header, token) {
      if (ageMs() >= freshMs && (isDue() || fetching !== undefined)) {
        await refresh().catch((error) => {
          if (ageMs() >= maxMs) throw error;
        });
      }
      if (keys === undefined || ageMs() >= maxMs) {
        throw new Error(`the keys of ${url} could not be had just now`);
      }
      try {
        return await keys.resolve(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !isDue()) throw error;
        await refresh();
        return await keys.resolve(header, token);
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
