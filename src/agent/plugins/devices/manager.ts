import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { Way } from './attachment.ts';
import { Attachment } from './attachment.ts';
import type { PluginConnection } from './connection.ts';
import { connectPlugin } from './connection.ts';
import { Inventory } from './inventory.ts';
import { limits, times } from './limits.ts';
import type { DeviceMetrics } from './metrics.ts';
import { deviceMetrics } from './metrics.ts';
import { findResourceNameFault } from './resource-name.ts';

/** A plugin that registers. */
export interface Candidate {
  readonly resource: string;
  /** Absolute path of its own socket. */
  readonly socket: string;
  readonly way: Way;
  /** For the registry: the registration socket, which distinguishes two plugins of one resource. Default `socket`. */
  readonly key?: string;
  /** For the registry: when that socket was created; of two plugins the newer one is used. */
  readonly madeMs?: number;
}

/** A refusal that is sent to the plugin: trying the same again does not help. */
export class RefusedPluginError extends Error {
  override readonly name = 'RefusedPluginError';
}

export interface DeviceManagerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry;
  /** How long the devices of a plugin that has left stay in the capacity; default 5 min. */
  readonly graceMs?: () => number;
  readonly random?: () => number;
}

interface Current {
  readonly candidate: Candidate;
  readonly attachment: Attachment;
}

interface Pending {
  readonly candidate: Candidate;
  readonly end: AbortController;
}

/**
 * Keeps at most one plugin in use for each resource. The newest registration wins; but a live plugin that registered in one
 * way is not replaced by one that registers in the other: a plugin uses one of them (specification, section 2.6).
 */
export class DeviceManager implements Disposable {
  readonly inventory: Inventory;
  readonly #options: DeviceManagerOptions;
  readonly #metrics: DeviceMetrics;
  /** The plugin in use, or last in use, by resource. */
  readonly #current = new Map<string, Current>();
  /** The registration under way, by resource. */
  readonly #pending = new Map<string, Pending>();
  /** Plugins of the registry that were superseded and are still there, by key. */
  readonly #standby = new Map<string, Candidate>();

  constructor(options: DeviceManagerOptions) {
    const { clock, log, graceMs = () => times.graceMs, metrics } = options;
    this.#options = options;
    this.inventory = new Inventory({ clock, log, graceMs });
    this.#metrics = deviceMetrics(metrics);
    this.#metrics.watch(this.inventory);
    this.inventory.onGone((resource) => this.#onGone(resource));
  }

  /** The attachment of the plugin in use, or last in use, for a resource. */
  attachment(resource: string): Attachment | undefined {
    return this.#current.get(resource)?.attachment;
  }

  /** Throws a RefusedPluginError for a candidate that can be refused without contacting the plugin. */
  check(candidate: Candidate): void {
    const { resource } = candidate;
    const fault = findResourceNameFault(resource);
    if (fault !== undefined)
      throw new RefusedPluginError(`the resource name ${quote(resource)} is invalid: ${fault}`);
    const resources = this.#listResources();
    if (!resources.has(resource) && resources.size >= limits.resources)
      throw new RefusedPluginError(`${limits.resources} resources are registered already; no more are taken`);
    this.#refuseConflict(candidate);
  }

  /**
   * Connects to the plugin and takes it into use, instead of an earlier one of the same resource and way. Rejects with a
   * RefusedPluginError, or with the reason why the plugin cannot be reached; nothing of it is left then.
   */
  async register(candidate: Candidate, signal: AbortSignal): Promise<void> {
    try {
      await this.#register(candidate, signal);
      this.#metrics.registration(candidate.way, 'accepted');
    } catch (error) {
      const result = error instanceof RefusedPluginError ? 'refused' : 'failed';
      this.#metrics.registration(candidate.way, result);
      throw error;
    }
  }

  /** A plugin of the registry has gone. An older plugin of its resource that is still there is used again. */
  deregister(candidate: Candidate): void {
    const { resource } = candidate;
    this.#standby.delete(keyOf(candidate));
    const found = this.#current.get(resource);
    if (found === undefined || keyOf(found.candidate) !== keyOf(candidate)) return;
    found.attachment[Symbol.dispose]();
    this.#current.delete(resource);
    this.inventory.away(resource);
    this.#options.log.info({ resource }, 'device plugin deregistered');
    this.#fallBack(resource);
  }

  [Symbol.dispose](): void {
    for (const { attachment } of this.#current.values()) attachment[Symbol.dispose]();
    for (const { end } of this.#pending.values()) end.abort(new Error('the agent stops'));
    this.inventory[Symbol.dispose]();
  }

  async #register(candidate: Candidate, signal: AbortSignal): Promise<void> {
    this.check(candidate);
    const { clock, log } = this.#options;
    const { resource, socket, way } = candidate;
    this.#pending
      .get(resource)
      ?.end.abort(new RefusedPluginError(`a newer registration of ${resource} has come meanwhile`));
    const own: Pending = { candidate, end: new AbortController() };
    this.#pending.set(resource, own);
    const cancel = AbortSignal.any([signal, own.end.signal]);
    try {
      const first = await connectPlugin({ socket, clock, signal: cancel, time: this.#metrics.time });
      if (cancel.aborted) {
        first[Symbol.dispose]();
        throw cancel.reason;
      }
      const before = this.#current.get(resource)?.candidate;
      if (before?.way === 'registry' && keyOf(before) !== keyOf(candidate))
        this.#standby.set(keyOf(before), before);
      this.#attach(candidate, first);
      log.info({ resource, socket, way }, 'device plugin registered');
    } catch (error) {
      throw own.end.signal.aborted ? own.end.signal.reason : error;
    } finally {
      if (this.#pending.get(resource) === own) this.#pending.delete(resource);
    }
  }

  #attach(candidate: Candidate, first?: PluginConnection): void {
    const { clock, log, random } = this.#options;
    const { resource, socket, way } = candidate;
    this.#current.get(resource)?.attachment[Symbol.dispose]();
    const attachment = new Attachment({
      resource,
      socket,
      way,
      inventory: this.inventory,
      clock,
      log,
      time: this.#metrics.time,
      onAway: this.#metrics.left,
      ...(first === undefined ? {} : { first }),
      ...(random === undefined ? {} : { random }),
    });
    this.#current.set(resource, { candidate, attachment });
  }

  #onGone(resource: string): void {
    const found = this.#current.get(resource);
    if (found?.candidate.way !== 'registration') return; // a plugin of the registry may still come back
    found.attachment[Symbol.dispose]();
    this.#current.delete(resource);
    this.#fallBack(resource);
  }

  /** Uses the newest of the superseded plugins again. */
  #fallBack(resource: string): void {
    const [next] = [...this.#standby.values()]
      .filter((each) => each.resource === resource)
      .sort((a, b) => (b.madeMs ?? 0) - (a.madeMs ?? 0));
    if (next === undefined) return;
    this.#standby.delete(keyOf(next));
    this.#attach(next);
  }

  #refuseConflict(candidate: Candidate): void {
    const { resource, way } = candidate;
    const inUse = this.#current.get(resource);
    const isLive = inUse !== undefined && ['listing', 'serving'].includes(inUse.attachment.state);
    for (const other of [isLive ? inUse.candidate : undefined, this.#pending.get(resource)?.candidate]) {
      if (other === undefined) continue;
      if (other.way !== way) {
        const message = `${resource} is registered already, ${wayText[other.way]}, by the plugin at ${other.socket}; a device plugin registers in one way only`;
        throw new RefusedPluginError(message);
      }
      if (keyOf(other) !== keyOf(candidate) && (other.madeMs ?? 0) > (candidate.madeMs ?? 0))
        throw new RefusedPluginError(
          `${resource} has a newer plugin, at ${other.socket}; this one would count again without it`,
        );
    }
  }

  #listResources(): ReadonlySet<string> {
    return new Set([...this.#current.keys(), ...this.#pending.keys(), ...this.inventory.resources().keys()]);
  }
}

const wayText: Readonly<Record<Way, string>> = {
  registration: 'by a call of the agent’s registration service',
  registry: 'by the plugin registry',
};

const keyOf = ({ key, socket }: Candidate): string => key ?? socket;

function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
