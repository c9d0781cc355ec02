import type { CertificateSigningRequest } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import { UnreadableError } from '../../registry/index.ts';
import { isDecided } from './requests.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** How long a decided request is kept, and one without a decision; as in the reference. */
const decidedMs = 3600_000;
const pendingMs = 24 * 3600_000;
const sweepEveryMs = 10 * 60_000;

export interface SweepOptions {
  requests: Resource<CertificateSigningRequest>;
  clock: Clock;
  log: Logger;
}

/** Removes old requests, again and again until `signal` aborts. */
export async function keepSweeping(options: SweepOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sweep(options).catch((error: unknown) => {
      options.log.warn(`old certificate requests could not be removed: ${describeError(error)}`);
    });
    await options.clock.sleep(sweepEveryMs, signal);
  }
}

async function sweep({ requests, clock }: SweepOptions): Promise<void> {
  for (const stored of requests.storage.list(requests.prefix(''), '', 0).items) {
    const { metadata, ...request } = requests.encoding.read(stored);
    const age = clock.now() - Date.parse(metadata?.creationTimestamp ?? '');
    if (!(age > (isDecided(request) ? decidedMs : pendingMs))) continue;
    await requests.delete('', metadata?.name ?? '', {}, context).catch(ignoreGone);
  }
}

function ignoreGone(error: unknown): void {
  if (error instanceof UnreadableError) return;
  if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
}
