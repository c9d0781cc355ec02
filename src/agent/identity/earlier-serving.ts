import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { findFault, readPair } from '../../base/x509/index.ts';
import { chainFault } from './chain.ts';
import type { Identity } from './credentials.ts';
import { nodeSubject, publishServing } from './credentials.ts';

export interface EarlierOptions {
  nodeName: string;
  certDir: string;
  /** PEM of the authority that it must come from. */
  ca: string;
  serving: Identity['serving'];
  clock: Clock;
  log: Logger;
}

/**
 * Serves with the certificate of an earlier run while it is good, however little of its life is left and whatever the
 * node's addresses are now: the control plane, which renews it, may be away. Says so where there is none.
 */
export async function serveWithEarlier(options: EarlierOptions): Promise<void> {
  const { nodeName, certDir, ca, serving, clock, log } = options;
  try {
    const pair = await readPair(certDir, 'nodeward-serving');
    if (pair === undefined) return tellNone(log, 'there is none yet');
    const expected = { use: 'server', subject: nodeSubject(nodeName), now: clock.now() } as const;
    const fault = findFault(pair, expected) ?? chainFault(pair.cert, ca);
    if (fault !== undefined) return tellNone(log, fault);
    publishServing(serving, { pair, clientCa: ca });
  } catch (error) {
    tellNone(log, describeError(error));
  }
}

function tellNone(log: Logger, why: string): void {
  log.info(
    `no serving certificate for now: ${why}; until the control plane has signed one the agent's port takes connections, and no handshake on it succeeds`,
  );
}
