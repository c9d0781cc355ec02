import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { Attachment, Way } from './attachment.ts';
import { attach } from './attachment.ts';
import { connectPlugin } from './connection.ts';
import type { Inventory } from './inventory.ts';
import { createInventory } from './inventory.ts';
import { limits, times } from './limits.ts';
import type { DeviceMetrics } from './metrics.ts';
import { deviceMetrics } from './metrics.ts';
import { resourceNameFault } from './resource-name.ts';

/** A plugin that wants to be taken into use. */
export interface Candidate {
  readonly resource: string;
  /** Absolute path of its own socket. */
  readonly socket: string;
  readonly way: Way;
  /** In the registry: the registration socket, which tells two plugins of one resource apart. Default `socket`. */
  readonly key?: string;
  /** In the registry: when that socket was made; of two plugins the newer one counts. */
  readonly madeMs?: number;
}

/** Told to the plugin: trying the same again does not help. */
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

export interface DeviceManager extends Disposable {
  readonly inventory: Inventory;
  /** Which plugin counts for a resource, or has counted last. */
  attachment(resource: string): Attachment | undefined;
  /** Throws a RefusedPluginError for what can be told without asking the plugin. */
  check(candidate: Candidate): void;
  /**
   * Connects to the plugin and takes it into use, instead of an earlier one of the same resource and way. Rejects with a
   * RefusedPluginError, or with why the plugin cannot be reached; nothing of it is left then.
   */
  register(candidate: Candidate, signal: AbortSignal): Promise<void>;
  /** A plugin of the registry has gone. Where an older one of its resource is there, that one counts again. */
  deregister(candidate: Candidate): void;
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
 * Keeps for each resource at most one plugin in use. The newest registration wins; but a plugin that lives and has come
 * the one way is not replaced by one that comes the other: a plugin uses one of them (specification, section 2.6).
 */
export function createDeviceManager(options: DeviceManagerOptions): DeviceManager {
  const { clock, log, graceMs = () => times.graceMs } = options;
  const inventory = createInventory({ clock, log, graceMs });
  const metrics: DeviceMetrics = deviceMetrics(options.metrics);
  metrics.watch(inventory);
  const current = new Map<string, Current>();
  const pending = new Map<string, Pending>();
  /** Of the registry: superseded, but still there. */
  const standby = new Map<string, Candidate>();

  inventory.onGone((resource) => {
    const found = current.get(resource);
    if (found?.candidate.way !== 'registration') return; // one of the registry may still come back
    found.attachment[Symbol.dispose]();
    current.delete(resource);
    fallBack(resource);
  });

  /** The newest of those that were superseded counts again. */
  function fallBack(resource: string): void {
    const [next] = [...standby.values()]
      .filter((each) => each.resource === resource)
      .sort((a, b) => (b.madeMs ?? 0) - (a.madeMs ?? 0));
    if (next === undefined) return;
    standby.delete(keyOf(next));
    begin(next);
  }

  function begin(candidate: Candidate, first?: Awaited<ReturnType<typeof connectPlugin>>): void {
    const { resource, socket, way } = candidate;
    current.get(resource)?.attachment[Symbol.dispose]();
    const attachment = attach({
      resource,
      socket,
      way,
      inventory,
      clock,
      log,
      time: metrics.time,
      onAway: metrics.left,
      ...(first === undefined ? {} : { first }),
      ...(options.random === undefined ? {} : { random: options.random }),
    });
    current.set(resource, { candidate, attachment });
  }

  function check(candidate: Candidate): void {
    const { resource } = candidate;
    const fault = resourceNameFault(resource);
    if (fault !== undefined)
      throw new RefusedPluginError(`the resource name ${shown(resource)} is invalid: ${fault}`);
    const known = current.has(resource) || pending.has(resource) || inventory.resources().has(resource);
    if (!known && countResources() >= limits.resources)
      throw new RefusedPluginError(`${limits.resources} resources are registered already; no more are taken`);
    refuseConflict(candidate);
  }

  function refuseConflict(candidate: Candidate): void {
    const { resource, way } = candidate;
    const inUse = current.get(resource);
    const lives = inUse !== undefined && ['listing', 'serving'].includes(inUse.attachment.state);
    for (const other of [lives ? inUse.candidate : undefined, pending.get(resource)?.candidate]) {
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

  function countResources(): number {
    return new Set([...current.keys(), ...pending.keys(), ...inventory.resources().keys()]).size;
  }

  async function register(candidate: Candidate, signal: AbortSignal): Promise<void> {
    check(candidate);
    const { resource, socket } = candidate;
    pending
      .get(resource)
      ?.end.abort(new RefusedPluginError(`a newer registration of ${resource} has come meanwhile`));
    const own: Pending = { candidate, end: new AbortController() };
    pending.set(resource, own);
    const cancel = AbortSignal.any([signal, own.end.signal]);
    try {
      const first = await connectPlugin({ socket, clock, signal: cancel, time: metrics.time });
      if (cancel.aborted) {
        first[Symbol.dispose]();
        throw cancel.reason;
      }
      const before = current.get(resource)?.candidate;
      if (before?.way === 'registry' && keyOf(before) !== keyOf(candidate))
        standby.set(keyOf(before), before);
      begin(candidate, first);
      log.info({ resource, socket, way: candidate.way }, 'device plugin registered');
    } catch (error) {
      throw own.end.signal.aborted ? own.end.signal.reason : error;
    } finally {
      if (pending.get(resource) === own) pending.delete(resource);
    }
  }

  return {
    inventory,
    attachment: (resource) => current.get(resource)?.attachment,
    check,
    async register(candidate, signal) {
      try {
        await register(candidate, signal);
        metrics.registration(candidate.way, 'accepted');
      } catch (error) {
        metrics.registration(candidate.way, error instanceof RefusedPluginError ? 'refused' : 'failed');
        throw error;
      }
    },
    deregister(candidate) {
      const { resource } = candidate;
      standby.delete(keyOf(candidate));
      const found = current.get(resource);
      if (found === undefined || keyOf(found.candidate) !== keyOf(candidate)) return;
      found.attachment[Symbol.dispose]();
      current.delete(resource);
      inventory.away(resource);
      log.info({ resource }, 'device plugin deregistered');
      fallBack(resource);
    },
    [Symbol.dispose]() {
      for (const { attachment } of current.values()) attachment[Symbol.dispose]();
      for (const { end } of pending.values()) end.abort(new Error('the agent stops'));
      inventory[Symbol.dispose]();
    },
  };
}

const wayText: Readonly<Record<Way, string>> = {
  registration: 'by a call of the agent’s registration service',
  registry: 'by the plugin registry',
};

const keyOf = ({ key, socket }: Candidate): string => key ?? socket;

function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
