import { X509Certificate } from 'node:crypto';
import { isRecord, parseJson } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, ExitError, exitCodes, readRegularFile } from '../../../base/index.ts';
import type { Identity } from '../authenticator.ts';
import type { TokenAuthenticator } from '../bearer.ts';
import { isHarmlessToken } from '../harmless-token.ts';
import { TokenCache } from '../token-cache.ts';
import { userOf } from './claims.ts';
import type { Issuer } from './issuer.ts';
import { openIssuer } from './issuer.ts';
import type { OidcOptions } from './options.ts';
import { checkOidcOptions } from './options.ts';

const known = { maxEntries: 4096, maxBytes: 8 * 1024 * 1024 };
const maxTokenLength = 12 * 1024;
const maxCaLength = 1024 * 1024;
const clockToleranceSeconds = 10;
/** How long a verified token is accepted without verifying its signature again: its key may be withdrawn. */
const trustMs = 10 * 60_000;
/** The log is limited, because any client can send tokens. */
const minLogIntervalMs = 60_000;

interface Found extends Identity {
  /** On the clock's monotonic time. */
  sinceMs: number;
}

/** ID tokens of an OpenID Connect issuer as bearer tokens. Throws an ExitError when it cannot be configured so. */
export async function oidcAuthenticator(
  options: OidcOptions,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<TokenAuthenticator> {
  checkOidcOptions(options);
  const ca = options.caFile === undefined ? undefined : await readCa(options.caFile);
  const cache = new TokenCache<Found>(known);
  let opened: Promise<Issuer> | undefined;

  let loggedMs = Number.NEGATIVE_INFINITY;
  function logLimited(write: () => void): void {
    if (clock.monotonicMs() - loggedMs < minLogIntervalMs) return;
    loggedMs = clock.monotonicMs();
    write();
  }

  async function verify(token: string): Promise<Found | undefined> {
    const { errors, jwtVerify } = await import('jose');
    opened ??= openIssuer({ url: options.issuerUrl, ca, clock });
    const issuer = await opened;
    try {
      const { payload } = await jwtVerify(token, issuer.key, {
        issuer: options.issuerUrl,
        audience: options.clientId,
        algorithms: [...(options.signingAlgs ?? ['RS256'])],
        requiredClaims: ['exp'],
        currentDate: new Date(clock.now()),
        clockTolerance: clockToleranceSeconds,
      });
      const user = userOf(payload, options);
      const sinceMs = clock.monotonicMs();
      if (!('fault' in user)) return { user, untilMs: (payload.exp ?? 0) * 1000, sinceMs };
      logLimited(() => log.info({ issuer: options.issuerUrl }, `an ID token is refused: ${user.fault}`));
      return undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      const problem = describeError(error);
      logLimited(() =>
        log.warn({ issuer: options.issuerUrl, error: problem }, 'ID tokens cannot be verified'),
      );
      return undefined;
    }
  }

  return {
    async identify(token) {
      if (token.length > maxTokenLength || !isHarmlessToken(token)) return undefined;
      if (issuerIn(token) !== options.issuerUrl) return undefined; // of another issuer
      const found = await cache.find(token, () => verify(token));
      if (found === undefined) return undefined;
      if (clock.now() < found.untilMs && clock.monotonicMs() - found.sinceMs < trustMs) return found;
      cache.forget(token);
      return clock.now() < found.untilMs ? await cache.find(token, () => verify(token)) : undefined;
    },
  };
}

/** The issuer that an unverified token names. */
function issuerIn(token: string): unknown {
  try {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    const { value } = parseJson(payload);
    return isRecord(value) ? value['iss'] : undefined;
  } catch {
    return undefined;
  }
}

/** Refuses a file without any certificate: the TLS library would accept it silently, and then trust no server. */
async function readCa(path: string): Promise<string> {
  try {
    const pem = (await readRegularFile(path, { limitBytes: maxCaLength })).toString('latin1');
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificate in PEM');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    const why = `the authorities of the OpenID Connect issuer cannot be read from ${path}: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, why, { cause: error });
  }
}
