import { join } from 'node:path';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, untilAborted } from '../../../base/index.ts';
import type { StateRecord } from '../../../base/state-file/index.ts';
import { openStateFile } from '../../../base/state-file/index.ts';

/*
 * No container has exclusive CPUs or memory of a NUMA node: that is the policy `none` of the reference's CPU manager, and
 * `None` of its memory manager. Their state files say so, for programs that read them. The allocations in a file of another
 * policy cannot be kept, so the file is set aside. The reference refuses to start then, which would leave the node without
 * an agent because of a file that changes nothing.
 */

const states = [
  {
    name: 'cpu_manager_state',
    what: 'the state of CPUs',
    empty: { policyName: 'none', defaultCpuSet: '', entries: {} },
  },
  {
    name: 'memory_manager_state',
    what: 'the state of memory',
    empty: { policyName: 'None', machineState: {}, entries: {} },
  },
] as const;

export interface PolicyStateOptions {
  rootDir: string;
  clock: Clock;
  log: Logger;
  /** How a file is replaced as a whole; default writeFileAtomic. */
  writeFile?: (path: string, text: string) => Promise<void>;
}

/**
 * Keeps both state files present and correct. Never rejects: a failed write is logged and tried again until the signal
 * aborts. `ready` is called after the first try.
 */
export async function keepPolicyStates(
  options: PolicyStateOptions,
  ready: () => void,
  signal: AbortSignal,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  for (const { name, what, empty } of states) {
    const path = join(options.rootDir, name);
    const file = stack.use(
      openStateFile<StateRecord>({
        ...options,
        path,
        what,
        parse: (members) => judge(members, empty.policyName),
      }),
    );
    const found = await file.read();
    if (found.state === 'value' && isSame(found.value, empty)) continue;
    await file.write(empty).catch((error: unknown) => options.log.debug(describeError(error))); // logged as a warning by the state file
  }
  ready();
  await untilAborted(signal);
}

function judge(members: StateRecord, policyName: string): StateRecord {
  const { policyName: found } = members;
  if (found === policyName) return members;
  throw new Error(
    `is of policy ${JSON.stringify(found)}, and this agent has ${policyName}: drain the node and start its pods again if containers were given CPUs or memory of their own`,
  );
}

/** Compares members by their JSON text, which is sufficient for these small objects. */
function isSame(found: StateRecord, wanted: StateRecord): boolean {
  return Object.keys(wanted).every((name) => JSON.stringify(found[name]) === JSON.stringify(wanted[name]));
}
