import { Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { durationParser, parseFilePath } from './values.ts';

/** The flags of the authorization webhook, named like those of kube-apiserver. */
export interface AuthorizationFlags {
  authorizationWebhookConfigFile?: string;
  /** Milliseconds. */
  authorizationWebhookCacheAuthorizedTtl?: number;
  authorizationWebhookCacheUnauthorizedTtl?: number;
  authorizationWebhookFailurePolicy?: 'NoOpinion' | 'Deny';
}

const parseCacheTtl = durationParser('0s', '24h', '5m');

export const authorizationOptions = () => [
  new Option(
    '--authorization-webhook-config-file <kubeconfig>',
    'server that receives a SubjectAccessReview for what roles do not allow',
  ).argParser(parseFilePath),
  new Option(
    '--authorization-webhook-cache-authorized-ttl <duration>',
    'how long to cache that it allows (default: 5m)',
  ).argParser(parseCacheTtl),
  new Option(
    '--authorization-webhook-cache-unauthorized-ttl <duration>',
    'how long to cache that it does not allow (default: 30s)',
  ).argParser(parseCacheTtl),
  new Option(
    '--authorization-webhook-failure-policy <policy>',
    'decision when it does not respond (default: NoOpinion)',
  ).choices(['NoOpinion', 'Deny']),
];

/** Undefined without a webhook. Throws an ExitError when its other flags are given without its kubeconfig. */
export function readAuthorizationFlags(flags: AuthorizationFlags): ApiServerOptions['authorization'] {
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
