import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes, parseDuration } from '../../base/index.ts';
import { filePath } from './flags.ts';

/** Another server that says who may do what, as flags; named as the reference's. */
export interface AuthorizationFlags {
  authorizationWebhookConfigFile?: string;
  /** Milliseconds. */
  authorizationWebhookCacheAuthorizedTtl?: number;
  authorizationWebhookCacheUnauthorizedTtl?: number;
  authorizationWebhookFailurePolicy?: 'NoOpinion' | 'Deny';
}

export const authorizationOptions = () => [
  new Option(
    '--authorization-webhook-config-file <kubeconfig>',
    'server that is asked by SubjectAccessReview about what roles do not allow',
  ).argParser(filePath),
  new Option(
    '--authorization-webhook-cache-authorized-ttl <duration>',
    'how long its yes counts (default: 5m)',
  ).argParser(cacheTtl),
  new Option(
    '--authorization-webhook-cache-unauthorized-ttl <duration>',
    'how long its no counts (default: 30s)',
  ).argParser(cacheTtl),
  new Option(
    '--authorization-webhook-failure-policy <policy>',
    'what counts when it gives no answer (default: NoOpinion)',
  ).choices(['NoOpinion', 'Deny']),
];

/** Undefined without a webhook. Throws an ExitError when its other flags come without its kubeconfig. */
export function authorizationOf(flags: AuthorizationFlags): ApiServerOptions['authorization'] {
  const { authorizationWebhookConfigFile: kubeconfig } = flags;
  if (kubeconfig === undefined) {
    const given = Object.keys(flags).some((name) => name.startsWith('authorizationWebhook'));
    if (!given) return undefined;
    const message = 'the flags of the authorization webhook need --authorization-webhook-config-file';
    throw new ExitError(exitCodes.usage, message);
  }
  const webhook = {
    kubeconfig,
    authorizedTtlMs: flags.authorizationWebhookCacheAuthorizedTtl,
    unauthorizedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtl,
    failurePolicy: flags.authorizationWebhookFailurePolicy,
  };
  return { webhook };
}

function cacheTtl(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms >= 0 && ms <= 24 * 3600_000) return ms;
  throw new InvalidArgumentError('It must be a duration from 0s to 24h, such as 5m.');
}
