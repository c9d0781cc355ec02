import type { Logger } from '../../base/index.ts';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import type { EventRecorder, Happening } from '../node/events/index.ts';
import { nodeSubject } from '../node/events/index.ts';
import type { ReservedGroup, ReservedTarget } from '../resources/index.ts';
import { findReservedGroup, limitReservedGroup, openCgroupTree } from '../resources/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/**
 * Throws an ExitError where a group is missing that is to be limited, as the reference does not start then. `mountRoot` is
 * `/sys/fs/cgroup`.
 */
export function checkReservedGroups(groups: readonly ReservedGroup[], mountRoot: string): void {
  if (groups.length === 0) return;
  const tree = openTree(mountRoot);
  for (const group of groups) {
    const found = findReservedGroup({ tree }, group);
    if ('problem' in found)
      throw new ExitError(exitCodes.configuration, `${found.problem}, or change enforceNodeAllocatable`);
  }
}

function openTree(mountRoot: string) {
  try {
    return openCgroupTree(mountRoot);
  } catch (error) {
    throw new ExitError(exitCodes.configuration, `enforceNodeAllocatable: ${describeError(error)}`, {
      cause: error,
    });
  }
}

export interface ReservedLimitsOptions {
  /** As configured now. */
  groups(): readonly ReservedGroup[];
  nodeEvent(happening: Happening): void;
  readonly log: Logger;
}

/** Of this node, as it is configured. */
export function createReservedLimits(context: AgentContext, events: EventRecorder): ReservedLimits {
  return new ReservedLimits({
    groups: () => context.live.current.enforcement.groups,
    nodeEvent: (happening) => events.record(nodeSubject(context.nodeName), happening),
    ...part(context, 'cgroups'),
  });
}

/** Holds the groups of the system and of the agents to what is reserved for them. */
export class ReservedLimits {
  readonly #options: ReservedLimitsOptions;
  /** By group, as JSON: what was last reported, which systemd has as well. */
  readonly #reported = new Map<string, string>();

  constructor(options: ReservedLimitsOptions) {
    this.#options = options;
  }

  /** Writes all limits again; never rejects. Each change of a result is logged, and an Event of the Node. */
  async keep(target: ReservedTarget): Promise<void> {
    for (const group of this.#options.groups()) {
      const said = JSON.stringify(group);
      const isKnown = this.#reported.get(group.side) === said;
      const { slices, ...files } = target;
      try {
        await limitReservedGroup(isKnown ? files : { ...files, slices }, group);
        this.#tell(group, said, undefined);
      } catch (error) {
        this.#tell(group, `${said} ${describeError(error)}`, describeError(error));
      }
    }
  }

  #tell({ side, cgroup }: ReservedGroup, said: string, problem: string | undefined): void {
    if (this.#reported.get(side) === said) return;
    this.#reported.set(side, said);
    const { log, nodeEvent } = this.#options;
    if (problem === undefined) {
      const message = `Updated limits on ${side} reserved cgroup ${cgroup}`;
      log.info(message);
      nodeEvent({ type: 'Normal', reason: 'NodeAllocatableEnforced', message });
      return;
    }
    log.warn(`${problem}; trying again each minute`);
    nodeEvent({ type: 'Warning', reason: 'FailedNodeAllocatableEnforcement', message: problem });
  }
}
