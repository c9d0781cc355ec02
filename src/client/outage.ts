import { StatusError } from '../api/index.ts';
import type { Clock, Logger } from '../base/index.ts';
import { describeError } from '../base/index.ts';

/** Follows one peer through good and bad times and logs each outage once, not each failed try. */
export interface OutageLog {
  failed(error: unknown): void;
  succeeded(): void;
}

/** A peer that has never answered yet is probably just starting; failures in its first seconds are not logged as warnings. */
const startingMs = 3000;

/** `task` completes "cannot …": `renew the lease`. */
export function createOutageLog(task: string, clock: Clock, log: Logger): OutageLog {
  const bornMs = clock.monotonicMs();
  let hasSucceeded = false;
  let failures = 0;
  let sinceMs = 0;
  let isLogged = false;
  return {
    failed(error) {
      const nowMs = clock.monotonicMs();
      if (failures === 0) sinceMs = nowMs;
      failures += 1;
      if (isLogged || (!hasSucceeded && nowMs - bornMs < startingMs)) {
        log.debug({ failures }, `cannot ${task}: ${describeError(error)}`);
        return;
      }
      isLogged = true;
      log.warn({ failures }, `cannot ${task}, trying on: ${describeError(error)}${advice(error)}`);
    },
    succeeded() {
      if (isLogged) {
        const seconds = Math.round((clock.monotonicMs() - sinceMs) / 1000);
        log.info({ failures, seconds }, `can ${task} again`);
      }
      hasSucceeded = true;
      failures = 0;
      isLogged = false;
    },
  };
}

function advice(error: unknown): string {
  if (!(error instanceof StatusError)) return '';
  if (error.reason === 'Unauthorized') {
    return '; the API server does not accept this node’s credentials: check its certificate and the cluster’s CA';
  }
  // other refusals say themselves what a node may not do
  if (error.reason === 'Forbidden' && / is forbidden: User "(?!system:node:)/.test(error.message)) {
    return '; the node’s credentials need the name system:node:NAME and the group system:nodes';
  }
  return '';
}

/** How long a refusing server asks to be left alone, in milliseconds; 0 where it does not say. */
export function retryAfterMs(error: unknown): number {
  if (!(error instanceof StatusError)) return 0;
  const seconds = error.details?.retryAfterSeconds ?? 0;
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
