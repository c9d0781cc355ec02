import { StatusError, secretKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import {
  bootstrapNamespace,
  bootstrapSecretPrefix,
  controlPlaneUser,
  readBootstrapSecret,
} from '../authn/index.ts';
import { UnreadableError } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** An expired token is not accepted; until it is removed it only appears in lists. */
const sweepEveryMs = 60_000;

/** Removes the Secrets of bootstrap tokens that have expired, within a minute. */
export function bootstrapTokenExpiry({ registry, storage, clock, log }: ControllerOptions): Service {
  const secrets = registry.of(secretKind);
  const prefix = secrets.prefix(bootstrapNamespace);

  async function removeIfExpired(stored: Stored): Promise<void> {
    const token = readBootstrapSecret(secrets.encoding.read(stored));
    if (token === undefined || clock.now() < token.untilMs) return;
    const resourceVersion = `${stored.revision}`; // its lifetime may be extended meanwhile
    try {
      await secrets.delete(bootstrapNamespace, stored.key.slice(prefix.length), { resourceVersion }, context);
      log.info({ id: token.id }, 'an expired bootstrap token is removed');
    } catch (error) {
      if (error instanceof UnreadableError) return;
      if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
    }
  }

  /** Checks all tokens even when some fail; the failures are logged together. */
  async function sweep(): Promise<void> {
    const failures: string[] = [];
    for (const stored of storage.list(prefix + bootstrapSecretPrefix, '', 0).items) {
      await removeIfExpired(stored).catch((error: unknown) => {
        failures.push(`${stored.key.slice(prefix.length)}: ${describeError(error)}`);
      });
    }
    const [first] = failures;
    if (first !== undefined) warn(`${failures.length} of their Secrets, first ${first}`);
  }

  function warn(why: string): void {
    log.warn(`expired bootstrap tokens could not be removed: ${why}`);
  }

  return {
    name: 'bootstrap-token-expiry',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      while (!signal.aborted) {
        await sweep().catch((error: unknown) => warn(describeError(error)));
        await clock.sleep(sweepEveryMs, signal);
      }
    },
  };
}
