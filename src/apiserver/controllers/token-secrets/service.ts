import { secretKind, serviceAccountKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import type { Stored } from '../../storage/index.ts';
import { controller } from '../controller.ts';
import { HeldTokens } from './held-tokens.ts';
import type { TokenSecretsOptions } from './token-keeper.ts';
import { TokenKeeper } from './token-keeper.ts';

/**
 * Fills Secrets of the type `kubernetes.io/service-account-token` with a token of the account that they name, and removes
 * those whose account does not exist (any more); as in the reference. What such a Secret has already stays.
 */
export function tokenSecrets(options: TokenSecretsOptions): Service {
  const { registry } = options;
  const secrets = registry.of(secretKind);
  const accounts = registry.of(serviceAccountKind);
  return controller('token-secrets', options, (enqueue) => {
    const held = new HeldTokens(registry);
    const keeper = new TokenKeeper(options);
    const written = (stored: Stored) => {
      if (held.set(stored)) enqueue(stored.key);
    };
    const ofAccount = ({ key }: Stored) => {
      const { namespace, name } = accounts.placeOf(key);
      for (const secret of held.of(namespace, name)) enqueue(secret);
    };
    const gone = (stored: Stored) => held.remove(stored);
    return {
      follows: [
        { resource: secrets, present: written, added: written, changed: written, gone },
        { resource: accounts, added: ofAccount, gone: ofAccount },
      ],
      work: (key) => keeper.keep(key),
    };
  });
}
