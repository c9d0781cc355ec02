import type { Lease } from '../../../src/api/index.ts';
import { leaseKind, nodeKind, StatusError } from '../../../src/api/index.ts';
import { systemClock } from '../../../src/base/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';

const namespace = 'kube-node-lease';
const context = { namespace, timeoutMs: 10_000 };

/** A node whose agent only heartbeats, and notes what it was told. */
export class SimulatedNode {
  readonly name: string;
  /** The newest renewTime that was answered. */
  acknowledged = '';
  renewals = 0;
  /** Requests that failed and were made again. */
  retries = 0;
  /** What is no answer that a client tries again after. */
  readonly surprises: string[] = [];
  #lease: Lease | undefined;

  constructor(name: string) {
    this.name = name;
  }

  async join(client: ApiClient, signal: AbortSignal): Promise<void> {
    const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' };
    const node = { metadata: { name: this.name }, status: { conditions: [condition] } };
    await this.#again(signal, () => client.create(nodeKind, node).catch(unlessThere));
  }

  /** Renews the lease every `intervalMs` until `signal` aborts, through whatever answers. */
  async run(client: ApiClient, intervalMs: number, signal: AbortSignal): Promise<void> {
    await systemClock.sleep(Math.random() * intervalMs, signal);
    while (!signal.aborted) {
      const startedMs = performance.now();
      await this.#again(signal, () => this.#renew(client));
      await systemClock.sleep(startedMs + intervalMs - performance.now(), signal);
    }
  }

  async #renew(client: ApiClient): Promise<void> {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: this.name, leaseDurationSeconds: 40, renewTime };
    const known = this.#lease;
    const object = { ...known, metadata: { ...known?.metadata, name: this.name, namespace }, spec };
    try {
      this.#lease = await (known
        ? client.replace(leaseKind, object, context)
        : client.create(leaseKind, object));
    } catch (error) {
      this.#lease = undefined;
      if (!(error instanceof StatusError && ['Conflict', 'AlreadyExists'].includes(error.reason)))
        throw error;
      this.#lease = await client.get(leaseKind, this.name, context); // an answer was lost
      throw error;
    }
    this.acknowledged = renewTime;
    this.renewals += 1;
  }

  /** As the agent does: 200 ms and twice as long each time, up to 7 s. */
  async #again(signal: AbortSignal, ask: () => Promise<unknown>): Promise<void> {
    for (let waitMs = 200; !signal.aborted; waitMs = Math.min(2 * waitMs, 7000)) {
      try {
        await ask();
        return;
      } catch (error) {
        if (error instanceof StatusError && !retriable.has(error.code)) this.surprises.push(error.message);
        this.retries += 1;
      }
      await systemClock.sleep(waitMs, signal);
    }
  }
}

/** Conflict: somebody's own write whose answer was lost. */
const retriable: ReadonlySet<number> = new Set([409, 429, 500, 503, 504]);

function unlessThere(error: unknown): void {
  if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
}
