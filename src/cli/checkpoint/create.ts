import { Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { isTerminal } from '../context.ts';
import { showProgress } from '../progress.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';

interface Flags extends AgentFlags {
  timeout?: number;
}

/** `nodeward checkpoint [create] NAMESPACE/POD/CONTAINER` */
export function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description(
      'Write a checkpoint of a running container on its node, and print the path of the archive there.',
    )
    .argument('<namespace/pod/container>', 'what to checkpoint', target)
    .addOption(
      new Option(
        '--timeout <seconds>',
        'how long the runtime may take (default: as the agent is configured)',
      ).argParser(seconds),
    )
    .action(async (path: string, _own: unknown, command: Command) => {
      context.stdout.write(`${await checkpoint(path, command.optsWithGlobals<Flags>(), context)}\n`);
    });
}

function target(text: string): string {
  const parts = text.split('/');
  if (parts.length === 3 && parts.every((part) => part !== ''))
    return parts.map(encodeURIComponent).join('/');
  throw new InvalidArgumentError('It must be NAMESPACE/POD/CONTAINER.');
}

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

async function checkpoint(path: string, flags: Flags, context: CommandContext): Promise<string> {
  await using client = await connectAgent(flags);
  using _progress = isTerminal(context.stderr)
    ? showProgress(context.stderr, `checkpointing ${decodeURIComponent(path)}`)
    : undefined;
  const query = flags.timeout === undefined ? '' : `?timeout=${flags.timeout}`;
  // no time limit here: the agent has its own, and to go away would cancel the checkpoint
  const { code, body } = await client.request({
    method: 'POST',
    path: `/checkpoint/${path}${query}`,
    timeoutMs: 0,
    signal: context.signal,
  });
  if (code === 200) return archiveIn(body);
  throw new ExitError(exitCodes.failed, `the agent at ${client.server} answered ${code}: ${body.trim()}`);
}

function archiveIn(body: string): string {
  const answer: unknown = JSON.parse(body);
  const items: unknown = isRecord(answer) ? answer['items'] : undefined;
  const path: unknown = Array.isArray(items) ? items[0] : undefined;
  if (typeof path === 'string') return path;
  throw new ExitError(exitCodes.failed, 'the agent answered without the path of an archive');
}
