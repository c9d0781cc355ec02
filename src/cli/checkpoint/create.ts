import { Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import type { CommandContext } from '../context.ts';
import { isTerminal } from '../context.ts';
import { showProgress } from '../progress.ts';
import { askAgent, refused } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import { untilEnded } from './operation.ts';

interface Flags extends AgentFlags {
  timeout?: number;
  async?: boolean;
  wait?: boolean;
}

/** `nodeward checkpoint [create] NAMESPACE/POD[/CONTAINER]` */
export function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description(
      'Write a checkpoint of a running container on its node, and print the path of the archive there. ' +
        'Of a pod without a container: one of each, of one moment, all or none.',
    )
    .argument('<namespace/pod[/container]>', 'what to checkpoint', target)
    .addOption(
      new Option(
        '--timeout <seconds>',
        'how long the runtime may take (default: as the agent is configured)',
      ).argParser(seconds),
    )
    .addOption(
      new Option('--async', 'only begin, and print the id of the operation; get shows what came of it'),
    )
    .addOption(
      new Option('--wait', 'with --async: wait all the same; neither Ctrl-C nor a broken connection cancels'),
    )
    .action(async (path: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      if (flags.async && path.split('/').length === 2)
        throw new ExitError(exitCodes.usage, '--async is for one container');
      if (flags.wait && !flags.async) throw new ExitError(exitCodes.usage, '--wait is for --async');
      context.stdout.write(`${await checkpoint(path, flags, context)}\n`);
    });
}

function target(text: string): string {
  const parts = text.split('/');
  if ((parts.length === 2 || parts.length === 3) && parts.every((part) => part !== ''))
    return parts.map(encodeURIComponent).join('/');
  throw new InvalidArgumentError('It must be NAMESPACE/POD or NAMESPACE/POD/CONTAINER.');
}

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

async function checkpoint(path: string, flags: Flags, context: CommandContext): Promise<string> {
  const [namespace = '', name = ''] = path.split('/').map(decodeURIComponent);
  await using client = await connectAgent(flags, { namespace, name });
  using _progress = isTerminal(context.stderr)
    ? showProgress(context.stderr, `checkpointing ${decodeURIComponent(path)}`)
    : undefined;
  const query = flags.timeout === undefined ? '' : `?timeout=${flags.timeout}`;
  if (flags.async) return await begin(client, `/checkpoint/${path}${query}`, flags, context);
  // no time limit here: the agent has its own, and to go away would cancel the checkpoint
  const answer = await client.request({
    method: 'POST',
    path: `/checkpoint/${path}${query}`,
    timeoutMs: 0,
    signal: context.signal,
  });
  if (answer.code === 200) return archivesIn(answer.body);
  throw refused(client, answer);
}

/** Answers the operation's id, or the path of the archive when it has been waited for. */
async function begin(
  client: ApiClient,
  path: string,
  { wait }: Flags,
  { signal }: CommandContext,
): Promise<string> {
  const headers = { prefer: 'respond-async' };
  const { id } = await askAgent(client, { method: 'POST', path, headers, signal });
  if (typeof id !== 'string')
    throw new ExitError(
      exitCodes.failed,
      `the agent at ${client.server} knows no checkpoints to come back for`,
    );
  return wait ? await untilEnded(client, id, signal) : id;
}

/** A line for each; of a pod's the manifest comes last. */
function archivesIn(body: string): string {
  const answer: unknown = JSON.parse(body);
  const { items, manifest } = isRecord(answer) ? answer : {};
  const paths: unknown[] = Array.isArray(items)
    ? [...items, ...(manifest === undefined ? [] : [manifest])]
    : [];
  if (paths.length > 0 && paths.every((path) => typeof path === 'string')) return paths.join('\n');
  throw new ExitError(exitCodes.failed, 'the agent answered without the path of an archive');
}
