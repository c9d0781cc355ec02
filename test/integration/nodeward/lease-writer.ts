import type { Lease } from '../../../src/api/index.ts';
import { leaseKind, StatusError } from '../../../src/api/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';
import { ConnectionError } from '../../../src/client/index.ts';

/**
 * What a writer knows of one lease of its own. Only the last write can be in doubt: its answer did not come. Whatever
 * was answered must be found again, or what was in doubt after it.
 */
export interface LeaseRecord {
  readonly name: string;
  /** What the server has acknowledged last: the object, or that there is none. */
  acknowledged: Lease | undefined;
  /** What was sent after that, without an answer. */
  inDoubt: { wrote: 'deletion' } | { wrote: 'value'; transitions: number } | undefined;
}

export interface Acknowledgement {
  /** The version that the server gave the write; a deletion tells none. */
  resourceVersion?: string;
}

const namespace = 'default';
/** Every so often a lease is deleted and made anew. */
const deleteEvery = 7;

/** Creates, updates and deletes one lease again and again until the server is gone. Rejects on a wrong answer. */
export async function writeUntilGone(
  api: ApiClient,
  record: LeaseRecord,
  onAcknowledged: (what: Acknowledgement) => void,
): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      onAcknowledged(await writeOnce(api, record, round));
    } catch (error) {
      if (error instanceof ConnectionError) return;
      // a server that stops may say so in words
      if (error instanceof StatusError && error.code >= 500) return;
      throw error;
    }
  }
}

async function writeOnce(api: ApiClient, record: LeaseRecord, round: number): Promise<Acknowledgement> {
  const { name, acknowledged } = record;
  if (acknowledged !== undefined && round % deleteEvery === deleteEvery - 1) {
    record.inDoubt = { wrote: 'deletion' };
    await api.delete(leaseKind, name, { namespace });
    settle(record, undefined);
    return {};
  }
  const transitions = (acknowledged?.spec?.leaseTransitions ?? 0) + 1;
  const spec = { holderIdentity: name, leaseTransitions: transitions };
  record.inDoubt = { wrote: 'value', transitions };
  const written =
    acknowledged === undefined
      ? await api.create(leaseKind, { metadata: { name, namespace }, spec })
      : await api.replace(leaseKind, { ...acknowledged, spec });
  settle(record, written);
  const { resourceVersion } = written.metadata ?? {};
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function settle(record: LeaseRecord, acknowledged: Lease | undefined): void {
  record.acknowledged = acknowledged;
  record.inDoubt = undefined;
}

/** What is wrong with what was found after a restart, undefined when nothing is. Takes it as the new truth. */
export function compare(record: LeaseRecord, found: Lease | undefined): string | undefined {
  const { name, acknowledged, inDoubt } = record;
  settle(record, found);
  if (isSame(acknowledged, found)) return undefined;
  if (inDoubt?.wrote === 'deletion' && found === undefined) return undefined;
  if (inDoubt?.wrote === 'value' && found?.spec?.leaseTransitions === inDoubt.transitions) {
    const before = Number(acknowledged?.metadata?.resourceVersion ?? 0);
    if (Number(found.metadata?.resourceVersion) > before) return undefined;
  }
  const shown = (lease: Lease | undefined): string =>
    lease === undefined ? 'none' : `${lease.spec?.leaseTransitions} at ${lease.metadata?.resourceVersion}`;
  return `${name}: acknowledged ${shown(acknowledged)}, in doubt ${JSON.stringify(inDoubt)}, found ${shown(found)}`;
}

function isSame(one: Lease | undefined, other: Lease | undefined): boolean {
  const key = (lease: Lease | undefined): string =>
    JSON.stringify([lease?.metadata?.uid, lease?.metadata?.resourceVersion, lease?.spec?.leaseTransitions]);
  return key(one) === key(other);
}
