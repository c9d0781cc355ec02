import type { Lease } from '../../api/index.ts';
import { leaseKind } from '../../api/index.ts';
import type { ControllerOptions } from './controller.ts';
import { ParsedObjects } from './parsed-objects.ts';

/** The Leases with which the reference's programs say that they are at work, all in this namespace. */
const leaseNamespace = 'kube-system';

/** Between two looks whether the other one is still at work. */
const lookMs = 2000;

export interface StandByRoles {
  /** Name of the Lease of the one that goes first. */
  readonly lease: string;
  /** How the log names that one, and this one. */
  readonly other: string;
  readonly own: string;
}

/** Whether a program of the reference is at work, because it renews its Lease. Then the part that does the same here stands back. */
export class StandBy {
  readonly #options: Pick<ControllerOptions, 'clock' | 'log'>;
  readonly #roles: StandByRoles;
  readonly #leases: ParsedObjects<Lease>;
  #isBack = false;

  constructor(options: Pick<ControllerOptions, 'registry' | 'clock' | 'log'>, roles: StandByRoles) {
    this.#options = options;
    this.#roles = roles;
    this.#leases = new ParsedObjects(options.registry, leaseKind, options.log, roles.own);
  }

  isOtherAtWork(): boolean {
    const { clock, log } = this.#options;
    const { lease: name, other, own } = this.#roles;
    const spec = this.#leases.find(leaseNamespace, name)?.spec;
    const isHeld = isLeaseHeld(spec, clock.now());
    if (isHeld !== this.#isBack) {
      this.#isBack = isHeld;
      const lease = `the Lease ${leaseNamespace}/${name}`;
      const { holderIdentity = '' } = spec ?? {};
      if (isHeld) log.info({ holderIdentity }, `${other} holds ${lease}: ${own} stands back`);
      else log.info(`nobody renews ${lease} any more: ${own} goes on`);
    }
    return isHeld;
  }

  /** Resolves when the other one is not at work, or `signal` aborts. */
  async untilFree(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.isOtherAtWork()) await this.#options.clock.sleep(lookMs, signal);
  }
}

/** Whether a Lease has a holder that has renewed it in time. */
export function isLeaseHeld(spec: Lease['spec'], nowMs: number): boolean {
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = spec ?? {};
  return holderIdentity !== '' && Date.parse(renewTime) + leaseDurationSeconds * 1000 > nowMs;
}
