import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import type { ExecutorOptions } from '../pods/worker/index.ts';
import { readHostIds, UserNamespaces } from '../resources/index.ts';
import type { Runtime, RuntimeStatus } from '../runtime/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** The ids of pods with user namespaces of their own, where the runtime can make these. */
export function createUserIds(
  context: AgentContext,
  runtime: Pick<Runtime, 'status'>,
  handlerOf: (pod: Pod) => Promise<string>,
): Pick<ExecutorOptions, 'userIdsOf' | 'releaseUserIds'> {
  const { idsPerPod } = context.config.pods;
  const ranges = new UserNamespaces({
    podsDir: join(context.options.rootDir, 'pods'),
    idsPerPod,
    hostIds: () => readHostIds({ idsPerPod }),
    ...part(context, 'pods'),
  });
  return {
    async userIdsOf(pod) {
      if (pod.spec?.hostUsers !== false) return undefined;
      return await ranges.allocate(pod.metadata?.uid ?? '', async () =>
        refuseUserNamespace(await handlerOf(pod), runtime.status()),
      );
    },
    releaseUserIds: (podUid) => ranges.release(podUid),
  };
}

/** Throws, in the reference's words, where pods of the handler can have no user namespace. */
export function refuseUserNamespace(handler: string, { handlers }: Pick<RuntimeStatus, 'handlers'>): void {
  const found = handlers?.find(({ name }) => name === handler);
  if (found?.userNamespaces === true) return;
  const name = JSON.stringify(handler);
  const lacking =
    handler === ''
      ? 'runtime does not support user namespaces'
      : `RuntimeClass handler ${name} does not support user namespaces`;
  const unknown =
    handlers === undefined ? 'runtime handlers are not set' : `the handler ${name} is not known`;
  const why = found === undefined ? `: ${unknown}` : '';
  throw new Error(`can't set \`spec.hostUsers: false\`, ${lacking}${why}`);
}
