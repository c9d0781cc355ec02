import { join } from 'node:path';
import type { Pod } from '../../../../src/api/index.ts';
import { podKind, StatusError } from '../../../../src/api/index.ts';
import { ContainerRuns, waitFor } from '../../../support/index.ts';
import type { Random } from '../../../support/repetition.ts';
import { containerOf, uidOf } from '../conditions.ts';
import type { PodNode } from '../pod-node.ts';
import { accountFor, statusesOf } from './account.ts';
import type { Deafness } from './node-faults.ts';
import { upSeconds } from './node-faults.ts';
import type { Note } from './noted-pod.ts';
import { NotedPod } from './noted-pod.ts';
import { inRuntime } from './runtime-hand.ts';

/** On a machine with other load, with an agent and a runtime that are killed meanwhile. */
const patience = { timeoutMs: 180_000, intervalMs: 100 };
/** A start that is under way when the pod's end is heard of may still come to be. */
const startSeconds = 10;
const folderAnnotation = 'folder';

/** One pod from its creation to its end, with what must hold of it. */
export class Life {
  readonly #lab: PodNode;
  readonly #name: string;
  readonly #noted: NotedPod;
  #pod: Pod | undefined;
  readonly #stop: AbortSignal;
  #endAskedSeconds = Number.POSITIVE_INFINITY;

  /** Waits are given up when `stop` aborts. */
  constructor(lab: PodNode, name: string, generation: number, random: Random, stop: AbortSignal) {
    this.#lab = lab;
    this.#name = name;
    this.#stop = stop;
    this.#noted = new NotedPod(join(lab.node.folder, `${name}-${generation}`), random);
  }

  get uid(): string {
    return this.#pod === undefined ? '' : uidOf(this.#pod);
  }

  /** Also where the API is away for a while, and while another pod has the name. */
  async begin(): Promise<void> {
    await this.#noted.prepare();
    const annotations = { [folderAnnotation]: this.#noted.folder };
    const create = async () => {
      if (this.#stop.aborted) return new Error('given up');
      try {
        return await this.#lab.run(this.#name, this.#noted.spec, { annotations });
      } catch (error) {
        if (error instanceof StatusError && error.reason === 'Invalid') return error;
      }
      const there = await this.#lab.api.get(podKind, this.#name, { namespace: 'default' });
      return there.metadata?.annotations?.[folderAnnotation] === this.#noted.folder && there;
    };
    const made = await waitFor(`pod ${this.#name} to be created`, create, patience);
    if (made instanceof Error) throw made;
    this.#pod = made;
  }

  /** Asks for its end; resolves when the API has heard it. */
  async askForEnd(graceSeconds?: number): Promise<void> {
    const ask = async () => {
      if (this.#stop.aborted) return true;
      await this.#lab.delete(this.#name, graceSeconds);
      return true;
    };
    await waitFor(`the API to delete ${this.#name}`, ask, patience);
    this.#endAskedSeconds = Math.min(this.#endAskedSeconds, upSeconds());
  }

  async calm(): Promise<void> {
    await this.#noted.calm();
  }

  /** Runs as it should or has ended, and each container that runs or has ended for good says how often it ran. */
  async untilAtRest(): Promise<void> {
    await this.#until('come to rest', () => this.#isAtRest());
  }

  /** Gone from the API and from the runtime. */
  async untilGone(): Promise<void> {
    await this.#until('go', async () => {
      if (this.#lab.pods.history(this.uid).at(-1)?.isGone !== true) return false;
      const { sandboxes, containers } = await inRuntime(this.#lab.node.containerd.cri, this.uid);
      return sandboxes.length + containers.length === 0;
    });
  }

  /** What was not as it must be, by its containers' own notes and by all that the API told of it. */
  async complaints(deafness: readonly Deafness[]): Promise<string[]> {
    const runs = new ContainerRuns();
    const heardSeconds = heardBy(this.#endAskedSeconds, deafness) + startSeconds;
    for (const { what, container, run, atSeconds } of await this.#noted.notes()) {
      if (what === 'start') {
        if (atSeconds > heardSeconds)
          runs.complain(`${container} is started (${run}) after termination began`);
        runs.began(container, String(run));
      }
      if (what === 'twice') runs.complain(`two instances of ${container} lived (run ${run})`);
    }
    this.#checkTold(runs);
    const found = runs.complaints.map((each) => `${this.#name} (${this.uid}): ${each}`);
    return found.length === 0 ? [] : [...found, await this.#describe()];
  }

  /** Counts that the API told of never fall, and the last one is not beyond the runs. */
  #checkTold(runs: ContainerRuns): void {
    const counts = new Map<string, number>();
    for (const { pod } of this.#lab.pods.history(this.uid)) {
      for (const { name, restartCount } of statusesOf(pod)) {
        const before = counts.get(name) ?? 0;
        if (restartCount < before) runs.complain(`${name} has restart count ${restartCount} after ${before}`);
        counts.set(name, restartCount);
      }
    }
    const cutOff = this.#failedStarts();
    for (const [name, count] of counts) {
      // one that was killed before its first word counts, too
      if (count > runs.count(name) + (cutOff.get(name)?.size ?? 0)) runs.expectRestartCount(name, count, 1);
    }
  }

  async #isAtRest(): Promise<boolean> {
    const pod = this.#last();
    const names = this.#noted.containerNames();
    const isEnded = pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
    if (pod === undefined || !(isEnded || names.every((name) => isCalm(pod, name)))) return false;
    const runs = countStarts(await this.#noted.notes());
    const cutOff = this.#failedStarts();
    return names.every((name) => {
      const { restartCount = -1, state } = containerOf(pod, name) ?? {};
      const isSettled = isEnded || state?.running !== undefined;
      const more = restartCount + 1 - (runs.get(name) ?? 0);
      return !isSettled || !runs.has(name) || (more >= 0 && more <= (cutOff.get(name)?.size ?? 0));
    });
  }

  /** By container: starts that were cut off, or never came. They count as runs, as in the reference; some had noted that they ran. */
  #failedStarts(): Map<string, Set<string>> {
    const failed = new Map<string, Set<string>>();
    for (const { pod } of this.#lab.pods.history(this.uid)) {
      for (const { name, state, lastState } of statusesOf(pod)) {
        for (const end of [state?.terminated, lastState?.terminated]) {
          if (end?.containerID === undefined || end.startedAt !== undefined) continue;
          failed.set(name, (failed.get(name) ?? new Set()).add(end.containerID));
        }
      }
    }
    return failed;
  }

  #last(): Pod | undefined {
    return this.#lab.pods.history(this.uid).at(-1)?.pod;
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const isOver = async () => this.#stop.aborted || (await holds());
    await waitFor(`pod ${this.#name} to ${what}`, isOver, patience).catch(async (error: unknown) => {
      throw new Error(`${String(error)}; ${await this.#describe()}`, { cause: error });
    });
    this.#stop.throwIfAborted();
  }

  async #describe(): Promise<string> {
    const history = this.#lab.pods.history(this.uid).map(({ pod }) => pod);
    const notes = await this.#noted.notes();
    const account = await accountFor(this.#lab, { name: this.#name, uid: this.uid, history, notes });
    return `its end was asked for at ${this.#endAskedSeconds} s\n${account}`;
  }
}

/** When the agent has heard at the latest what the API heard then. */
function heardBy(seconds: number, deafness: readonly Deafness[]): number {
  let heard = seconds;
  for (const { fromSeconds, toSeconds } of deafness) {
    if (fromSeconds <= heard + startSeconds && toSeconds > heard) heard = toSeconds;
  }
  return heard;
}

function countStarts(notes: readonly Note[]): Map<string, number> {
  const starts = Map.groupBy(
    notes.filter(({ what }) => what === 'start'),
    ({ container }) => container,
  );
  return new Map([...starts].map(([name, all]) => [name, all.length]));
}

/** Names say what containers do when all is calm. */
function isCalm(pod: Pod, name: string): boolean {
  const { state, ready } = containerOf(pod, name) ?? {};
  if (name.startsWith('init')) return state?.terminated?.exitCode === 0;
  if (name.startsWith('job')) return (state?.waiting?.reason ?? 'CrashLoopBackOff') === 'CrashLoopBackOff';
  // one whose start was cut off has ended, where it is not started again
  if (state?.terminated !== undefined && hasEndedForGood(pod, name, state.terminated.exitCode)) return true;
  return state?.running !== undefined && ready === true;
}

function hasEndedForGood({ spec }: Pod, name: string, exitCode: number): boolean {
  const { containers = [], initContainers = [], restartPolicy } = spec ?? {};
  const own = [...containers, ...initContainers].find((each) => each.name === name);
  const isRestarted = (own?.restartPolicyRules ?? []).some(({ exitCodes }) => {
    return exitCodes?.values?.includes(exitCode) === (exitCodes?.operator === 'In');
  });
  return (own?.restartPolicy ?? restartPolicy) === 'Never' && !isRestarted;
}
