import { isIP } from 'node:net';
import { isRecord } from '../../api/index.ts';
import { bool, duration, field, int32, list, string, struct } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { AccessSettings } from '../server/access/index.ts';
import type { TlsSettings } from '../server/index.ts';
import { cipherSuites, openSslCiphers } from './cipher-suites.ts';
import type { Entry, Origin } from './located.ts';
import { mapOf } from './located.ts';

/*
 * What the configuration says of the agent's server: whether there is one, how it is secured, who may call it. The names
 * are the reference's.
 */

const authentication = struct('KubeletAuthentication', {
  x509: field(
    1,
    struct('KubeletX509Authentication', {
      clientCAFile: field(1, string, 'PEM of the authorities whose client certificates are accepted.'),
    }),
    'Client certificates.',
  ),
  webhook: field(
    2,
    struct('KubeletWebhookAuthentication', {
      enabled: field(1, bool, 'Whether bearer tokens are reviewed by the control plane.'),
      cacheTTL: field(2, duration, 'How long such a review counts.'),
    }),
    'Bearer tokens.',
  ),
  anonymous: field(
    3,
    struct('KubeletAnonymousAuthentication', {
      enabled: field(1, bool, 'Whether callers without credentials are let in, as system:anonymous.'),
    }),
    'Callers without credentials.',
  ),
});

const authorization = struct('KubeletAuthorization', {
  mode: field(1, string, 'AlwaysAllow, or Webhook: the control plane is asked.'),
  webhook: field(
    2,
    struct('KubeletWebhookAuthorization', {
      cacheAuthorizedTTL: field(1, duration, 'How long a yes counts.'),
      cacheUnauthorizedTTL: field(2, duration, 'How long a no counts.'),
    }),
    'Access reviews.',
  ),
});

export const serverFields = {
  authentication: field(19, authentication, 'Who may call the agent.'),
  authorization: field(20, authorization, 'What a caller may do.'),
  enableServer: field(40, bool, 'Whether anything is served at all.'),
  tlsMinVersion: field(41, string, 'VersionTLS12 or VersionTLS13.'),
  tlsCipherSuites: field(42, list(string), 'Cipher suites of TLS 1.2, by their IANA names.'),
  healthzPort: field(43, int32, 'The port of a plain HTTP server for /healthz; 0: none.'),
  healthzBindAddress: field(44, string, 'The IP address of that server.'),
} as const;

export const serverDefaults = {
  enableServer: true,
  tlsMinVersion: 'VersionTLS12',
  healthzPort: 0,
  healthzBindAddress: '127.0.0.1',
} as const;

/** Without a control plane nobody can review tokens, and nobody needs to be asked. */
export function accessDefaults(standalone: boolean) {
  return {
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: !standalone, cacheTTL: '2m' },
    },
    authorization: {
      mode: standalone ? 'AlwaysAllow' : 'Webhook',
      webhook: { cacheAuthorizedTTL: '5m', cacheUnauthorizedTTL: '30s' },
    },
  } as const;
}

type Rule = (value: unknown) => string | undefined;

const versions: Readonly<Record<string, TlsSettings['minVersion']>> = {
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

export const serverRules = {
  tlsMinVersion: (value) =>
    Object.hasOwn(versions, String(value))
      ? undefined
      : `${JSON.stringify(value)} is not one of ${Object.keys(versions).join(', ')}`,
  tlsCipherSuites: (value) => {
    const unknown = (Array.isArray(value) ? value : []).find((name) => !cipherSuites.includes(String(name)));
    return unknown === undefined
      ? undefined
      : `${JSON.stringify(unknown)} is not a cipher suite that can be served`;
  },
  healthzPort: (value) =>
    typeof value === 'number' && value >= 0 && value <= 65_535
      ? undefined
      : `must be from 0 to 65535, not ${String(value)}`,
  healthzBindAddress: (value) =>
    isIP(String(value)) === 0 ? `${JSON.stringify(value)} is not an IP address` : undefined,
} as const satisfies Partial<Record<keyof typeof serverFields, Rule>>;

/** What the agent's server is made of. */
export interface ServerSettings {
  readonly enabled: boolean;
  readonly tls: TlsSettings;
  /** 0: none. */
  readonly healthzPort: number;
  readonly healthzBindAddress: string;
  readonly access: AccessSettings;
}

/** What the merged and validated fields come to. */
export function serverSettings(values: Readonly<Record<string, unknown>>): ServerSettings {
  const at = (...path: readonly string[]) => path.reduce<unknown>(part, values);
  const ttlMs = (...path: readonly string[]) => durationMs(String(at(...path) ?? '0s'));
  const suites = at('tlsCipherSuites');
  return Object.freeze({
    enabled: at('enableServer') !== false,
    tls: {
      minVersion: versions[String(at('tlsMinVersion'))] ?? 'TLSv1.2',
      ciphers: openSslCiphers(Array.isArray(suites) ? suites.map(String) : []),
    },
    healthzPort: Number(at('healthzPort') ?? serverDefaults.healthzPort),
    healthzBindAddress: String(at('healthzBindAddress') ?? serverDefaults.healthzBindAddress),
    access: {
      tokens: at('authentication', 'webhook', 'enabled') === true,
      tokenTtlMs: ttlMs('authentication', 'webhook', 'cacheTTL'),
      anonymous: at('authentication', 'anonymous', 'enabled') === true,
      alwaysAllow: at('authorization', 'mode') === 'AlwaysAllow',
      allowedTtlMs: ttlMs('authorization', 'webhook', 'cacheAuthorizedTTL'),
      deniedTtlMs: ttlMs('authorization', 'webhook', 'cacheUnauthorizedTTL'),
    },
  });
}

/** What a person should know of settings that are allowed. */
export function serverWarnings({ access }: ServerSettings): string[] {
  return access.anonymous && access.alwaysAllow
    ? [
        'authentication.anonymous.enabled with authorization.mode AlwaysAllow: whoever reaches the port may do everything',
      ]
    : [];
}

function part(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** As in the reference, zero means the default for them. */
const zeroParts: readonly string[] = [
  'authentication.webhook.cacheTTL',
  'authorization.webhook.cacheAuthorizedTTL',
  'authorization.webhook.cacheUnauthorizedTTL',
];

/** The entry without parts that are stated as zero, of which `told` is told, and without an empty mode. */
export function withoutUnsetParts(
  path: string,
  entry: Entry,
  told: (path: string, at: Origin) => void,
): Entry {
  const { keyAt, value } = entry;
  if (value.type !== 'map' || !/^auth[a-z]+(?:\.webhook)?$/.test(path)) return entry;
  const kept: [string, Entry][] = [];
  for (const [name, inner] of value.entries) {
    const here = `${path}.${name}`;
    const stated = inner.value.type === 'scalar' ? inner.value.value : undefined;
    const isZero = zeroParts.includes(here) && durationMs(String(stated)) === 0;
    if (isZero) told(here, inner.value.at);
    if (!isZero && !(here === 'authorization.mode' && stated === ''))
      kept.push([name, withoutUnsetParts(here, inner, told)]);
  }
  return { keyAt, value: mapOf(kept, value.at) };
}
