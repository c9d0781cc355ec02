import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import type { SecurityProfiles } from '../pods/worker/index.ts';
import type { Judgement } from '../seccomp/index.ts';
import { loadJudge, profileLimitBytes, resolveAppArmor, resolveSeccomp } from '../seccomp/index.ts';
import { createProfileFinder, readHostAppArmor } from '../seccomp/registry/index.ts';
import type { AgentContext } from './context.ts';

/** The security profiles with which a container is to be made now, or why it cannot be (specification, section 2.8). */
export function createProfileResolver(
  context: AgentContext,
): (pod: Pod, container: string) => Promise<SecurityProfiles> {
  const folder = join(context.options.rootDir, 'seccomp');
  const judge = createLazyJudge();
  const find = createProfileFinder({ folder, judge, limitBytes: profileLimitBytes });
  return async (pod, container) => {
    const { seccompDefault } = context.live.current;
    const seccomp = await resolveSeccomp(pod, container, { seccompDefault, folder, find });
    if (seccomp.type === 'refused') return seccomp;
    const appArmor = resolveAppArmor(pod, container, await readHostAppArmor());
    if (appArmor.type === 'refused') return appArmor;
    return { seccomp: seccomp.profile, appArmor: appArmor.profile };
  };
}

/** Loads the judge when it is first needed: most nodes have no profiles, and need no table of system calls in memory. */
export function createLazyJudge(): (bytes: Uint8Array) => Promise<Judgement> {
  let loading: ReturnType<typeof loadJudge> | undefined;
  return async (bytes) => {
    loading ??= loadJudge().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return (await loading)(bytes);
  };
}
