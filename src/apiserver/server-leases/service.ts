import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Lease } from '../../api/index.ts';
import { formatMicroTime, leaseKind, StatusError } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';
import {
  addressAnnotation,
  listServerLeases,
  namesAnnotation,
  serverLeaseNamespace,
  serverLeasePrefix,
} from './names.ts';

export interface ServerLeaseOptions {
  readonly registry: Registry;
  readonly rootDir: string;
  /** Names and addresses under which this server serves. */
  readonly names: readonly string[];
  /** Where other machines reach this server; undefined: that is not known, or not yet. */
  advertised(): Promise<{ readonly address: string; readonly port: number } | undefined>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The leader takes a server that is silent for three times as long for one that is down. */
const renewMs = 20_000;
/** After a write that failed. */
const retryMs = 10_000;
/** A server that has not renewed its Lease for this time is gone for good. */
const forgetMs = 24 * 3600_000;
const context = { user: controlPlaneUser, dryRun: false };

/**
 * Announces to the other servers on one store, by a Lease in kube-system, under which names this one serves, and where it is
 * reached; as the reference's servers do. The leader lets no node have one of these names in its certificate. The Lease stays when the
 * server stops.
 */
export function serverLease(options: ServerLeaseOptions): Service {
  const { registry, rootDir, names, advertised, clock, log } = options;
  const leases = registry.of(leaseKind);
  const servingNames = names.join();
  const identity = createHash('sha256').update([hostname(), rootDir, servingNames].join('\0')).digest('hex');
  const place = { namespace: serverLeaseNamespace, name: serverLeasePrefix + identity.slice(0, 16) };

  async function renew(): Promise<void> {
    const own = await advertised();
    const known = listServerLeases(registry).find(({ metadata }) => metadata?.name === place.name);
    const { [addressAnnotation]: _address, ...others } = known?.metadata?.annotations ?? {};
    const lease: Lease = {
      ...known,
      metadata: {
        ...known?.metadata,
        ...place,
        annotations: {
          ...others,
          [namesAnnotation]: servingNames,
          ...(own === undefined ? {} : { [addressAnnotation]: `${own.address} ${own.port}` }),
        },
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

  /** Uses the written renew times: with a clock that is a day ahead, other servers must announce themselves again. */
  async function forgetOthers(): Promise<void> {
    for (const { metadata, spec } of listServerLeases(registry)) {
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
