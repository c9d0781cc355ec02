import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Lease } from '../../api/index.ts';
import { formatMicroTime, leaseKind, StatusError } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';
import { namesAnnotation, serverLeaseNamespace, serverLeasePrefix, serverLeases } from './names.ts';

export interface ServerLeaseOptions {
  readonly registry: Registry;
  readonly rootDir: string;
  /** Names and addresses under which this server serves. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

const renewMs = 10 * 60_000;
/** After a write that failed. */
const retryMs = 10_000;
/** A server that has not told of itself for so long is gone for good. */
const forgetMs = 24 * 3600_000;
const context = { user: controlPlaneUser, dryRun: false };

/**
 * Tells, by a Lease in kube-system, the other servers on one store under which names this one serves; as the reference's
 * servers do. Whoever leads lets no node have one of them in its certificate. The Lease stays when the server stops.
 */
export function serverLease(options: ServerLeaseOptions): Service {
  const { registry, rootDir, names, clock, log } = options;
  const leases = registry.of(leaseKind);
  const told = names.join();
  const identity = createHash('sha256').update([hostname(), rootDir, told].join('\0')).digest('hex');
  const place = { namespace: serverLeaseNamespace, name: serverLeasePrefix + identity.slice(0, 16) };

  async function renew(): Promise<void> {
    const known = serverLeases(registry).find(({ metadata }) => metadata?.name === place.name);
    const lease: Lease = {
      ...known,
      metadata: {
        ...known?.metadata,
        ...place,
        annotations: { ...known?.metadata?.annotations, [namesAnnotation]: told },
      },
      spec: {
        ...known?.spec,
        holderIdentity: hostname(),
        leaseDurationSeconds: forgetMs / 1000,
        renewTime: formatMicroTime(clock.now()),
      },
    };
    if (known === undefined) await leases.create(place.namespace, lease, context);
    else await leases.update(place.namespace, place.name, lease, '', context);
  }

  /** By the renewals' own times: a clock that is a day ahead makes others tell of themselves once more. */
  async function forgetOthers(): Promise<void> {
    for (const { metadata, spec } of serverLeases(registry)) {
      const { name = '', uid } = metadata ?? {};
      const silentMs = clock.now() - Date.parse(spec?.renewTime ?? '');
      if (name === place.name || !(silentMs > forgetMs)) continue;
      await leases.delete(place.namespace, name, uid === undefined ? {} : { uid }, context);
      log.info({ lease: name }, 'a server that has not been heard of for a day is forgotten');
    }
  }

  return {
    name: 'server-lease',
    dependsOn: ['storage'],
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      while (!signal.aborted) {
        let pauseMs = renewMs;
        try {
          await renew();
          await forgetOthers();
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          log.debug(`cannot tell of this server, trying again: ${describeError(error)}`);
          pauseMs = retryMs;
        }
        await clock.sleep(pauseMs, signal);
      }
    },
  };
}
