import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { findFault, readPair } from '../../base/x509/index.ts';
import { findChainFault } from './chain.ts';
import type { Identity } from './credentials.ts';
import { nodeSubject, publishServing } from './credentials.ts';

export interface EarlierOptions {
  nodeName: string;
  certDir: string;
  /** PEM of the authority that must have issued the certificate. */
  ca: string;
  serving: Identity['serving'];
  clock: Clock;
  log: Logger;
}

/**
 * Publishes the serving certificate of an earlier run while it is valid, even when little of its life is left or the
 * node's addresses have changed: the control plane, which renews it, may be unreachable. Logs where there is none.
 */
export async function serveWithEarlier(options: EarlierOptions): Promise<void> {
  const { nodeName, certDir, ca, serving, clock, log } = options;
  try {
    const pair = await readPair(certDir, 'nodeward-serving');
    if (pair === undefined) return logMissing(log, 'there is none yet');
    const expected = { use: 'server', subject: nodeSubject(nodeName), now: clock.now() } as const;
    const fault = findFault(pair, expected) ?? findChainFault(pair.cert, ca);
    if (fault !== undefined) return logMissing(log, fault);
    publishServing(serving, { pair, clientCa: ca });
  } catch (error) {
    logMissing(log, describeError(error));
  }
}

function logMissing(log: Logger, why: string): void {
  log.info(
    `no serving certificate for now: ${why}; until the control plane has signed one the agent's port takes connections, and no handshake on it succeeds`,
  );
}
