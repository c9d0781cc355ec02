import type { Secret, ServiceAccount } from '../../../api/index.ts';
import { StatusError, secretKind, serviceAccountKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import type { ServiceAccountTokens } from '../../authn/index.ts';
import {
  accountNameAnnotation,
  accountUidAnnotation,
  controlPlaneUser,
  secretTokenType,
} from '../../authn/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { HeldTokens } from './held-tokens.ts';

export interface TokenSecretsOptions extends ControllerOptions {
  tokens: Pick<ServiceAccountTokens, 'issueForSecret'>;
  /** PEM of the authority that holders of a token check this server with. */
  ca: string;
}

const context = { user: controlPlaneUser, dryRun: false };

/**
 * Fills Secrets of the type `kubernetes.io/service-account-token` with a token of the account that they name, and removes
 * those whose account does not exist (any more); as in the reference. What such a Secret has already stays.
 */
export function tokenSecrets(options: TokenSecretsOptions): Service {
  const { registry, storage, tokens, ca } = options;
  const secrets = registry.of(secretKind);
  const accounts = registry.of(serviceAccountKind);

  function readAccount(namespace: string, name: string): ServiceAccount | undefined {
    const stored = storage.get(accounts.prefix(namespace) + name);
    return stored && accounts.encoding.read(stored);
  }

  async function work(key: string): Promise<void> {
    const stored = storage.get(key);
    if (stored === undefined) return;
    const secret = secrets.encoding.read(stored);
    const { annotations = {}, deletionTimestamp } = secret.metadata ?? {};
    const account = annotations[accountNameAnnotation];
    if (secret.type !== secretTokenType || !account || deletionTimestamp !== undefined) return;
    const place = secrets.placeOf(key);
    const uid = readAccount(place.namespace, account)?.metadata?.uid;
    const meant = annotations[accountUidAnnotation];
    const isGone = uid === undefined || (meant !== undefined && meant !== '' && meant !== uid);
    if (isGone) return await remove(place, secret);
    if (isFilled(secret)) return;
    const token = await tokens.issueForSecret({
      namespace: place.namespace,
      account: { name: account, uid },
      heldBy: place.name,
    });
    await fill(place, { token, namespace: place.namespace, 'ca.crt': ca }, uid);
  }

  async function remove(place: Place, { metadata: { uid = '' } = {} }: Secret): Promise<void> {
    await secrets.delete(place.namespace, place.name, { uid }, context).catch(ignore('NotFound', 'Conflict'));
  }

  async function fill(place: Place, values: Readonly<Record<string, string>>, uid: string): Promise<void> {
    const make = (now: Secret): Secret => {
      const annotations = { ...now.metadata?.annotations, [accountUidAnnotation]: uid };
      const data = { ...now.data };
      for (const [key, text] of Object.entries(values)) data[key] ||= Buffer.from(text).toString('base64');
      return { ...now, metadata: { ...now.metadata, annotations }, data };
    };
    // one that is immutable cannot be filled: it stays as its owner has made it
    await secrets
      .change(place, { make, operation: 'Update' }, '', context)
      .catch(ignore('NotFound', 'Invalid'));
  }

  return controller('token-secrets', options, (enqueue) => {
    const held = new HeldTokens(registry);
    const written = (stored: Stored) => {
      if (held.set(stored)) enqueue(stored.key);
    };
    const enqueueAll = ({ key }: Stored) => {
      const { namespace, name } = accounts.placeOf(key);
      for (const secret of held.of(namespace, name)) enqueue(secret);
    };
    return {
      follows: [
        {
          resource: secrets,
          present: written,
          added: written,
          changed: written,
          gone: (stored) => held.remove(stored),
        },
        { resource: accounts, added: enqueueAll, gone: enqueueAll },
      ],
      work,
    };
  });
}

interface Place {
  namespace: string;
  name: string;
}

function isFilled({ data = {}, metadata }: Secret): boolean {
  const isNamed = Boolean(metadata?.annotations?.[accountUidAnnotation]);
  return isNamed && ['token', 'namespace', 'ca.crt'].every((key) => Boolean(data[key]));
}

function ignore(...reasons: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof StatusError && reasons.includes(error.reason))) throw error;
  };
}
