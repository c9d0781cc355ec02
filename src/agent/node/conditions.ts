import type { NodeCondition } from '../../api/index.ts';
import type { RuntimeCondition } from './runtime-view.ts';
import { isRuntimeAnswering } from './runtime-view.ts';

export type PressureKind = 'memory' | 'disk' | 'pid';

/** Whether the node is short of something; undefined where that cannot be measured. */
export type Pressures = Readonly<Record<PressureKind, boolean | undefined>>;

/** A condition as it is now, without times. */
export interface Finding {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/**
 * Computes the conditions that the agent keeps, with the reasons and messages of the reference. `remarks` are problems of
 * the agent itself; they are appended to the message of Ready. `problems` are why the node is not Ready though the runtime is.
 */
export function findConditions(
  pressures: Pressures,
  runtime: RuntimeCondition,
  remarks: readonly string[] = [],
  problems: readonly string[] = [],
): Finding[] {
  return [
    findNetworkCondition(runtime),
    findPressure(memoryNames, pressures.memory),
    findPressure(diskNames, pressures.disk),
    findPressure(pidNames, pressures.pid),
    findReadiness([...runtimeProblems(runtime), ...problems], remarks),
  ];
}

const runtimeNetwork = {
  ready: 'RuntimeNetworkReady',
  notReady: 'RuntimeNetworkNotReady',
  unknown: 'RuntimeNotAnswering',
};

function findNetworkCondition(runtime: RuntimeCondition): Finding {
  const type = 'NetworkUnavailable';
  if (runtime.networkReady) {
    const message = 'the container runtime reports that its network is ready';
    return { type, status: 'False', reason: runtimeNetwork.ready, message };
  }
  if (!isRuntimeAnswering(runtime)) {
    const message = 'the container runtime does not answer, so the state of its network is not known';
    return { type, status: 'Unknown', reason: runtimeNetwork.unknown, message };
  }
  return { type, status: 'True', reason: runtimeNetwork.notReady, message: networkProblem(runtime) };
}

/** Whether the condition was written by another, such as a network plugin's own agent. */
export function isForeignNetworkCondition(condition: NodeCondition): boolean {
  return (
    condition.type === 'NetworkUnavailable' &&
    !Object.values(runtimeNetwork).includes(condition.reason ?? '') &&
    condition.reason !== nodeStatusUnknown
  );
}

/** The reason that the node controller writes into the conditions of a silent node. */
const nodeStatusUnknown = 'NodeStatusUnknown';

interface Pressure {
  type: string;
  /** Reason and message when there is none, and when there is. */
  none: readonly [string, string];
  some: readonly [string, string];
}

function findPressure(names: Pressure, under: boolean | undefined): Finding {
  const { type, none, some } = names;
  if (under === undefined) {
    const message = 'the agent cannot measure this on the node';
    return { type, status: 'Unknown', reason: 'KubeletCannotMeasure', message };
  }
  const [reason, message] = under ? some : none;
  return { type, status: under ? 'True' : 'False', reason, message };
}

const memoryNames: Pressure = {
  type: 'MemoryPressure',
  none: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  some: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
};

const diskNames: Pressure = {
  type: 'DiskPressure',
  none: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  some: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
};

const pidNames: Pressure = {
  type: 'PIDPressure',
  none: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  some: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
};

function findReadiness(problems: readonly string[], remarks: readonly string[]): Finding {
  const remarkText = remarks.map((remark) => `; ${truncate(remark)}`).join('');
  if (problems.length === 0) {
    const message = `kubelet is posting ready status${remarkText}`;
    return { type: 'Ready', status: 'True', reason: 'KubeletReady', message };
  }
  const message = problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
  return { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: `${message}${remarkText}` };
}

/** The message of Ready before the runtime has been asked: the agent is starting, which is no problem. */
export const runtimeStartingMessage = 'container runtime status check may not have completed yet';

function runtimeProblems(runtime: RuntimeCondition): string[] {
  if (runtime.ready) return runtime.networkReady ? [] : [networkProblem(runtime)];
  if (runtime.reason === 'RuntimeStarting') return [runtimeStartingMessage];
  const said = truncate(runtime.message);
  if (!isRuntimeAnswering(runtime)) {
    const advice =
      'start the container runtime, or name its socket with --container-runtime-endpoint; the agent keeps trying';
    return [`container runtime is down: ${runtime.reason}: ${said}; ${advice}`];
  }
  const advice = "see the container runtime's own log";
  const down = `container runtime not ready: RuntimeReady=false reason:${runtime.reason} message:${said}; ${advice}`;
  return runtime.networkReady ? [down] : [down, 'container runtime network not ready: NetworkReady=false'];
}

function networkProblem(runtime: RuntimeCondition): string {
  const said = truncate(runtime.message.replace(/^NetworkReady: /, ''));
  const advice = 'install a network plugin (CNI) with its configuration in /etc/cni/net.d';
  return `container runtime network not ready: NetworkReady=false reason:${runtime.reason} message:${said}; ${advice}`;
}

const maxMessageLength = 1024;

/** Messages of the runtime come from outside, so their length is bounded. */
function truncate(text: string): string {
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength)}…`;
}
