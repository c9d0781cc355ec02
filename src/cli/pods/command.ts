import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../../base/index.ts';
import { connectAgent, connectControlPlane } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { createAgentCommand } from '../agent-client/options.ts';
import { requestAgent } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { listOutputOption, textOutputOption, writeResult } from '../terminal/output.ts';
import { describePod } from './explanation.ts';
import { listPods } from './list.ts';
import { explainPlacement, isUnplaced } from './placement.ts';

type Flags = AgentFlags & OutputFlags;

/** `nodeward pods …` */
export function podsCommand(context: CommandContext): Command {
  return createAgentCommand(
    'pods',
    'The pods of a node, as its agent has them: what each waits for, and why.',
    [lsCommand(context), explainCommand(context)],
  );
}

function lsCommand(context: CommandContext): Command {
  return new Command('ls')
    .description('List the pods of the node: how far each is, and what it waits for.')
    .addOption(listOutputOption())
    .action(async (_own: unknown, command: Command) => {
      const { output, ...flags } = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const request = { method: 'GET', path: '/pods/explain', signal: context.signal } as const;
      writeResult(context, output, listPods(await requestAgent(client, request), systemClock.now()));
    });
}

function explainCommand(context: CommandContext): Command {
  return new Command('explain')
    .description(
      'Explain why a pod is as it is: what it waits for and since when, what was tried, and what comes next and when; of a pod without a node, why each node cannot run it.',
    )
    .argument(
      '<[namespace/]pod>',
      'the pod; without a namespace, that of the namespace default',
      parsePodName,
    )
    .option('--all', 'of a pod without a node: name all nodes, not some of each group', false)
    .addOption(textOutputOption())
    .action(async (pod: PodName, _own: unknown, command: Command) => {
      const { output, all = false, ...flags } = command.optsWithGlobals<Flags & { all?: boolean }>();
      const { signal } = context;
      await using api = flags.node === undefined ? await connectControlPlane(flags) : undefined;
      if (api !== undefined && (await isUnplaced(api, pod, signal))) {
        writeResult(context, output, await explainPlacement(api, pod, { allNodes: all, signal }));
        return;
      }
      await using client = await connectAgent(flags, pod);
      const path = `/pods/explain/${encodeURIComponent(pod.namespace)}/${encodeURIComponent(pod.name)}`;
      const explanation = await requestAgent(client, { method: 'GET', path, signal: context.signal });
      writeResult(context, output, describePod(explanation, systemClock.now()));
    });
}

interface PodName {
  namespace: string;
  name: string;
}

/** `shop/web`, or `web` in the namespace default. */
export function parsePodName(text: string): PodName {
  const [namespace, name, ...more] = text.includes('/') ? text.split('/') : ['default', text];
  if (!namespace || !name || more.length > 0)
    throw new InvalidArgumentError('It is NAMESPACE/POD, such as default/web.');
  return { namespace, name };
}
