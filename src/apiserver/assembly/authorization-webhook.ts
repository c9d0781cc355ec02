import { isDeepStrictEqual } from 'node:util';
import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import type { Authorizer, WebhookOptions } from '../authz/index.ts';
import { openWebhook } from '../authz/index.ts';
import { createFileReload } from './file-reload.ts';

interface Surroundings {
  groupSuffix: string;
  clock: Clock;
  log: Logger;
  metrics: MetricsRegistry;
}

/** An authorizer on another server, asked when no other authorizer allows. The caller closes it, after `reload` has ended. */
export interface AuthorizationWebhook extends AsyncDisposable {
  authorizer: Authorizer;
  /** The service `authorization-webhook`: follows the kubeconfig. */
  reload: Service;
}

/** Throws an ExitError when the kubeconfig cannot be used. */
export async function openAuthorizationWebhook(
  options: WebhookOptions,
  surroundings: Surroundings,
): Promise<AuthorizationWebhook> {
  const { clock, log } = surroundings;
  const webhook = await openWebhook(options, surroundings);
  const { read, inUse, use } = webhook.source;
  const reload = createFileReload({
    name: 'authorization-webhook',
    dependsOn: [],
    path: options.kubeconfig,
    what: 'the address and credentials of the authorization webhook',
    read,
    inUse,
    isSame: isDeepStrictEqual,
    onChanged: use,
    clock,
    log,
  });
  return {
    authorizer: webhook.authorizer,
    reload,
    [Symbol.asyncDispose]: () => webhook[Symbol.asyncDispose](),
  };
}
