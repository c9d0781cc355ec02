import type { AccessSettings } from '../server/access/index.ts';
import type { ServingFileNames, TlsSettings } from '../server/index.ts';
import type { Fields, Settings } from './field.ts';
import { section } from './field.ts';
import { bool, choice, duration, integer, ipAddress, maxTimer, path, text } from './field-types.ts';
import { tlsFields, toTlsSettings } from './tls-fields.ts';

const authentication = section({
  doc: 'Who may call the agent: callers with a client certificate or a bearer token that is known.',
  fields: {
    anonymous: section({
      doc: 'Callers without credentials.',
      fields: {
        enabled: bool({
          doc: 'Whether callers without credentials are let in, as `system:anonymous`.',
          default: false,
        }),
      },
    }),
    webhook: section({
      doc: 'Bearer tokens: whether the control plane is asked whose they are, and how long its answer counts.',
      fields: {
        enabled: bool({
          doc: 'Whether the control plane is asked whose a bearer token is.',
          default: true,
          standaloneDefault: false,
        }),
        cacheTTL: duration('cacheTtlMs', ['0s', maxTimer], {
          doc: 'How long its answer about a token counts.',
          default: '2m',
        }),
      },
    }),
    x509: section({
      doc: 'Client certificates: the PEM file of the authorities that issue them; empty: that of the cluster.',
      fields: {
        clientCAFile: path({
          doc: 'PEM of the authorities whose client certificates are accepted. Read again every minute.',
          defaultInWords: 'the authority of the cluster',
          keepsZero: true,
        }),
      },
    }),
  },
});

const authorization = section({
  doc: 'What callers may do.',
  fields: {
    mode: choice(['AlwaysAllow', 'Webhook'], {
      doc: '`Webhook`: the control plane says what a caller may do, by the resource `nodes/…` of this node ([agent-server.md](agent-server.md)). `AlwaysAllow`: everything.',
      default: 'Webhook',
      standaloneDefault: 'AlwaysAllow',
    }),
    webhook: section({
      doc: 'How long an answer of the control plane counts, one that allows and one that denies.',
      fields: {
        cacheAuthorizedTTL: duration('allowedTtlMs', ['0s', maxTimer], {
          doc: 'How long an answer counts that allows.',
          default: '5m',
        }),
        cacheUnauthorizedTTL: duration('deniedTtlMs', ['0s', maxTimer], {
          doc: 'How long an answer counts that denies.',
          default: '30s',
        }),
      },
    }),
  },
});

/** How the agent's server is secured, and who may call it. The names are the reference's. */
export const serverFields = {
  enableServer: bool({
    doc: 'Whether the agent serves anything at all.',
    default: true,
    needsRestart: true,
  }),
  healthzPort: integer(0, 65_535, {
    doc: 'The port on which `/healthz` is served over plain HTTP too, for probes of this machine. 0: none.',
    default: 0,
    keepsZero: true,
    needsRestart: true,
  }),
  healthzBindAddress: text({
    ...ipAddress,
    doc: 'The IP address of that port.',
    default: '127.0.0.1',
    needsRestart: true,
  }),
  streamingConnectionIdleTimeout: duration('streamIdleMs', ['1s', maxTimer], {
    doc: 'How long a stream may stand still: an exec, attach or port-forward for which nothing comes or goes, or a log of which the client takes nothing. A log for which nothing is written stays. The control plane has a limit of its own, 4h.',
    default: '4h',
  }),
  ...tlsFields,
  authentication,
  authorization,
} as const satisfies Fields;

/** What the agent's server is made of. */
export interface ServerSettings {
  readonly enabled: boolean;
  readonly tls: TlsSettings;
  /** 0: none. */
  readonly healthzPort: number;
  readonly healthzBindAddress: string;
  readonly access: AccessSettings;
  /** How long a stream may stand still. */
  readonly streamIdleMs: number;
}

type ServerValues = Settings<typeof serverFields>;

export function toServerSettings(values: ServerValues): ServerSettings {
  const { anonymous, webhook } = values.authentication;
  return Object.freeze({
    enabled: values.enableServer,
    tls: toTlsSettings(values),
    healthzPort: values.healthzPort,
    healthzBindAddress: values.healthzBindAddress,
    streamIdleMs: values.streamIdleMs,
    access: {
      tokens: webhook.enabled,
      tokenTtlMs: webhook.cacheTtlMs,
      anonymous: anonymous.enabled,
      alwaysAllow: values.authorization.mode === 'AlwaysAllow',
      ...values.authorization.webhook,
    },
  });
}

export function toServingFiles({
  tlsCertFile,
  tlsPrivateKeyFile,
  authentication: { x509 },
}: ServerValues): ServingFileNames {
  return { tlsCertFile, tlsPrivateKeyFile, clientCAFile: x509.clientCAFile };
}

/** What a person should know of settings that are allowed. */
export function serverWarnings({ access }: ServerSettings): string[] {
  return access.anonymous && access.alwaysAllow
    ? [
        'authentication.anonymous.enabled with authorization.mode AlwaysAllow: any client that reaches the port may do everything',
      ]
    : [];
}
