import type { Lease } from '../../../api/index.ts';
import { leaseKind, StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { DeadlineError, withDeadline } from '../../../base/index.ts';
import type { ApiCalls, ApiClient, CallOptions } from '../../../client/index.ts';
import { ifFound, whoAnswers } from '../../../client/index.ts';
import { leaseNamespace, renewLease } from './lease-object.ts';
import { renewalIntervalMs } from './schedule.ts';

/** A client of the API with one connection of its own; an ApiClient satisfies it. */
export type LeaseApi = ApiCalls & Pick<ApiClient, 'reset'>;

export interface RenewerOptions {
  nodeName: string;
  nodeUid: () => string | undefined;
  api: LeaseApi;
  clock: Clock;
  durationSeconds: number;
}

export interface Renewer {
  /**
   * Renews the lease once: one PUT of the last known object; a GET first where none is known or it is stale, a
   * POST where there is none. Rejects after a failure, and then the connection is destroyed if it may be to blame.
   */
  renew(signal: AbortSignal): Promise<void>;
}

const maxAttempts = 5;
/** As shares of the interval: a dead connection must not cost all of it; a server that may only be slow gets longer. */
const quickShare = 0.5;
const patientShare = 0.8;
const maxQuickMs = 5000;
const maxPatientMs = 10_000;
const slowAnswerMs = 2500;

export function createRenewer(options: RenewerOptions): Renewer {
  const { nodeName, api, clock } = options;
  const intervalMs = renewalIntervalMs(options.durationSeconds);
  const quickTimeoutMs = Math.min(maxQuickMs, quickShare * intervalMs);
  const patientTimeoutMs = Math.min(maxPatientMs, patientShare * intervalMs);
  let known: Lease | 'none' | 'unknown' = 'unknown';
  /**
   * Whether the next request may take long. After a timeout a dead connection is as likely as a slow server, so the next
   * request after an impatient one is patient, and the reverse.
   */
  let patient = false;

  async function ask<T>(
    what: string,
    signal: AbortSignal,
    call: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const startedMs = clock.monotonicMs();
    const limits = { clock, timeoutMs: patient ? patientTimeoutMs : quickTimeoutMs, signal };
    const isSlow = () => clock.monotonicMs() - startedMs > slowAnswerMs;
    try {
      const answer = await withDeadline(limits, whoAnswers(api, `${what} lease ${nodeName}`), (inner) =>
        call({ namespace: leaseNamespace, signal: inner }),
      );
      patient = isSlow();
      return answer;
    } catch (error) {
      patient = error instanceof DeadlineError ? !patient : error instanceof StatusError && isSlow();
      if (!signal.aborted && mayBeConnectionFault(error)) api.reset();
      throw error;
    }
  }

  function next(): Lease {
    const { durationSeconds } = options;
    const nodeUid = options.nodeUid();
    const base = typeof known === 'object' ? known : undefined;
    return renewLease(base, { nodeName, nodeUid, durationSeconds, nowMs: clock.now() });
  }

  async function step(signal: AbortSignal): Promise<void> {
    if (known === 'unknown') {
      known = (await ifFound(ask('get', signal, (call) => api.get(leaseKind, nodeName, call)))) ?? 'none';
    }
    const write = known === 'none' ? 'create' : 'replace';
    known = await ask(write, signal, (call) => api[write](leaseKind, next(), call));
  }

  /** Handles an error because another client was faster; false for any other, such as a missing namespace. */
  function handleRace(error: unknown): boolean {
    if (!(error instanceof StatusError)) return false;
    if (error.reason === 'NotFound' && typeof known === 'object') known = 'none';
    else if (error.reason === 'Conflict' || error.reason === 'AlreadyExists') known = 'unknown';
    else return false;
    return true;
  }

  return {
    async renew(signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await step(signal);
          return;
        } catch (error) {
          if (!handleRace(error) || attempt >= maxAttempts) throw error;
        }
      }
    },
  };
}

/** A refusal proves that the connection works, except for a server error or failed authentication. */
function mayBeConnectionFault(error: unknown): boolean {
  if (error instanceof DeadlineError || !(error instanceof StatusError)) return true;
  return error.code >= 500 || error.reason === 'Unauthorized';
}
