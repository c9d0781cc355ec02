/**
 * The rule RestartAllContainers: everything but ephemeral containers is killed and removed, and the pod begins again in the
 * same sandbox. The container whose end asked for it is removed last: while it is there, the restart is not finished.
 */
import type { ContainerView } from '../view/types.ts';
import type { PodContainer } from './containers.ts';
import { exitOf, isLive } from './containers.ts';
import type { Draft } from './draft.ts';
import { afterExit } from './restart.ts';
import { restartPolicyOf } from './spec.ts';
import { clear } from './stops.ts';
import type { PlanInput } from './types.ts';

/** As the reference says of the containers, and of their ends. */
export const restartingAll = 'RestartingAllContainers';

/** The ended containers that ask for the restart of all. */
export function findTriggers(
  containers: readonly PodContainer[],
  sandboxId: string,
  input: PlanInput,
): ContainerView[] {
  return containers.flatMap((container) => {
    const [newest] = container.instances;
    if (newest === undefined || newest.state !== 'exited' || newest.sandboxId !== sandboxId) return [];
    const { lastExit, made } = container.record ?? {};
    if (lastExit?.id === newest.id && lastExit.isHistory === true && (made?.attempt ?? -1) > newest.attempt)
      return [];
    return afterExit(container, exitOf(newest), restartPolicyOf(input.pod)) === 'restartAll' ? [newest] : [];
  });
}

export function planRestartAll(
  containers: readonly PodContainer[],
  triggers: readonly ContainerView[],
  input: PlanInput,
  draft: Draft,
): void {
  const [trigger] = triggers;
  if (trigger === undefined) return;
  const message = `container ${trigger.name} exited with code ${trigger.exitCode}: all containers are restarted`;
  const wait = { reason: restartingAll, message };
  draft.restartAll(wait);
  const affected = containers.filter(({ type }) => type !== 'ephemeral');
  for (const { name } of affected) draft.waitFor(name, wait);
  const others = affected.flatMap(({ instances }) => instances.filter((each) => !triggers.includes(each)));
  const forced = { graceSeconds: 0, sinceMs: input.nowMs };
  for (const instance of others) {
    if (isLive(instance)) clear(instance, input, draft, forced);
    else remove(instance, draft);
  }
  const isQuiet = others.length === 0 && affected.every(({ isStarting }) => !isStarting);
  if (isQuiet) for (const each of triggers) remove(each, draft);
}

function remove({ id, name }: ContainerView, draft: Draft): void {
  draft.add({ kind: 'removeContainer', containerId: id, container: name, forRestart: true });
}
