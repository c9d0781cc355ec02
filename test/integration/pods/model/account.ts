import type { Pod } from '../../../../src/api/index.ts';
import { nodeward } from '../../nodeward/index.ts';
import type { ContainerStatus } from '../conditions.ts';
import type { PodNode } from '../pod-node.ts';
import type { Note } from './noted-pod.ts';
import { inRuntime } from './runtime-hand.ts';

/** Of the report of a failed run so much is kept at most: scripts/testing/failures.ts. */
const maxLineLength = 500;

export interface AccountOf {
  readonly name: string;
  readonly uid: string;
  /** What the API told of it, in order. */
  readonly history: readonly Pod[];
  readonly notes: readonly Note[];
}

/**
 * Why a pod is not as it should be, by everybody who knows of it: the runtime, the API, the agent (what the pod waits for, what was
 * done for it last), its containers, and the logs of agent and runtime. Line by line, what tells most first.
 */
export async function accountFor(lab: PodNode, { name, uid, history, notes }: AccountOf): Promise<string> {
  const { containerd } = lab.node;
  const last = history.at(-1);
  const found = await inRuntime(containerd.cri, uid).catch(String);
  const ids = [...idsIn(found), ...(last === undefined ? [] : statusesOf(last).map(idOf))];
  const isOfPod = (line: string) => [uid, name, ...ids].some((word) => word !== '' && line.includes(word));
  const explained = await nodeward(['pods', 'explain', `default/${name}`, '--root-dir', lab.rootDir]);
  return [
    ...section('the runtime has', typeof found === 'string' ? [found] : describe(found), 10),
    ...section('the API was told', distinct(history.map(toldOf)), 8),
    ...section('the agent says', lines(explained.stdout + explained.stderr), 20),
    ...section('its containers noted', [notes.map((note) => Object.values(note).join(' ')).join('; ')], 1),
    ...section('the agent wrote', lines(lab.agent.process.stderr).filter(isOfPod), 5),
    ...section('containerd wrote', lines(containerd.log).filter(isOfPod), 6),
    ...section('its description', [describeSpec(last)], 1),
  ].join('\n');
}

export function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

type Found = Awaited<ReturnType<typeof inRuntime>>;

const idsIn = (found: Found | string): string[] =>
  typeof found === 'string' ? [] : [...found.sandboxes, ...found.containers].map(({ id }) => id);

const idOf = ({ containerID = '' }: Pick<ContainerStatus, 'containerID'>): string =>
  containerID.split('//')[1] ?? '';

const shorten = (id: string): string => id.slice(0, 12);

/** States by the numbers of the CRI: of sandboxes 0 is ready; of containers 0 created, 1 running, 2 exited. */
function describe({ sandboxes, containers }: Found): string[] {
  return [
    ...sandboxes.map(
      ({ id, state, metadata }) => `sandbox ${shorten(id)} #${metadata?.attempt} state ${state}`,
    ),
    ...containers.map(
      ({ id, state, metadata, podSandboxId }) =>
        `container ${metadata?.name} #${metadata?.attempt} ${shorten(id)} state ${state} in ${shorten(podSandboxId)}`,
    ),
  ];
}

function toldOf(pod: Pod): string {
  const told = statusesOf(pod).map((status) => {
    const { name, restartCount, state } = status;
    const is = state?.running ? 'running' : (state?.terminated?.reason ?? state?.waiting?.reason);
    return `${name} ${restartCount} ${is} ${shorten(idOf(status))}`;
  });
  return [pod.status?.phase, ...told].join(', ');
}

/** Without what the containers run, which is the same for all. */
function describeSpec(pod: Pod | undefined): string {
  return JSON.stringify(pod?.spec, (key, value: unknown) =>
    ['command', 'image', 'volumeMounts', 'volumes'].includes(key) ? undefined : value,
  );
}

function section(title: string, all: readonly string[], count: number): string[] {
  const left = all.length > count ? ` (the last ${count} of ${all.length})` : '';
  return [`  ${title}${left}:`, ...all.slice(-count).map((line) => `    ${line.slice(0, maxLineLength)}`)];
}

const distinct = (all: readonly string[]): string[] => all.filter((each, index) => each !== all[index - 1]);

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
