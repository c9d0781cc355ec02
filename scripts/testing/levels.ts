import { availableParallelism } from 'node:os';

export interface Level {
  /** Processes with files of the lane `shared` that run at once. */
  readonly parallel: number;
  /** For one test, and for a test file as a whole. */
  readonly timeoutMs: number;
  /** It is built before the first test. */
  readonly startsBuiltProgram: boolean;
  /** It computes nearly all the time, and measures none: it runs beside one that `leavesGaps`, when that does not compute. */
  readonly fillsGaps: boolean;
  /** It waits for half of its time, and what it tests must not be held up. */
  readonly leavesGaps: boolean;
  /** Folders below the level's own whose files run in groups, several in one process; see file-group.ts. */
  readonly groupedFolders: readonly string[];
}

/**
 * Most files wait more than they compute (for timers, disks and servers), so more of them run than there are cores. The
 * suites of contract and conformance start servers of their own, which compute beside them.
 */
function perCore(factor: number, max: number): number {
  return Math.min(max, Math.max(1, Math.ceil(factor * availableParallelism())));
}

/**
 * Folders whose tests only call functions and objects that they made: they change no variable of the environment, no
 * working directory, no handler of the process and no global object, they mock no module, and what they open they close.
 * A child process that a file starts is no reason against it. Most of a small file's time is the start of a process
 * that loads the same modules as its neighbours: eight files that share one need about a quarter of the time.
 */
const pureUnitFolders = [
  'api',
  'agent/api-relay',
  'agent/assembly',
  'agent/checkpoint',
  'agent/config',
  'agent/containers',
  'agent/doctor',
  'agent/eviction',
  'agent/identity',
  'agent/images',
  'agent/node',
  'agent/objects',
  'agent/plugins',
  'agent/pods',
  'agent/resources',
  'agent/runtime',
  'agent/seccomp',
  'agent/server',
  'agent/usage',
  'agent/volumes',
  'apiserver/access-answers',
  'apiserver/apply',
  'apiserver/audit',
  'apiserver/authn',
  'apiserver/authz',
  'apiserver/controllers',
  'apiserver/handlers',
  'apiserver/http',
  'apiserver/node-proxy',
  'apiserver/pki',
  'apiserver/registry',
  'apiserver/reviews',
  'apiserver/scheduler',
  'apiserver/storage',
  'base/grpc',
  'base/x509',
  'cli/access',
  'cli/agent-client',
  'cli/checkpoint',
  'cli/flags',
  'client',
] as const;

export const levels: Readonly<Record<string, Level>> = {
  unit: {
    parallel: perCore(2, 8),
    timeoutMs: 120_000,
    startsBuiltProgram: false,
    fillsGaps: true,
    leavesGaps: false,
    groupedFolders: pureUnitFolders,
  },
  contract: {
    parallel: perCore(1.5, 6),
    timeoutMs: 180_000,
    startsBuiltProgram: false,
    fillsGaps: true,
    leavesGaps: false,
    groupedFolders: [],
  },
  conformance: {
    parallel: perCore(1.5, 4),
    timeoutMs: 600_000,
    startsBuiltProgram: true,
    fillsGaps: false,
    leavesGaps: false,
    groupedFolders: [],
  },
  integration: {
    parallel: perCore(1.5, 3),
    timeoutMs: 600_000, // the longest file takes a quarter of it
    startsBuiltProgram: true,
    fillsGaps: false,
    leavesGaps: true,
    groupedFolders: [],
  },
};

export const levelNames: readonly string[] = Object.keys(levels);
