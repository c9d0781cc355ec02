import { Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes, systemClock } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ConnectionError, splitLines } from '../../client/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent, responseError } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import { showProgress } from '../terminal/progress.ts';
import { pathOf } from './checkpoint-id.ts';

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
        'Without a container: of all containers of the pod at the same moment, all or none.',
    )
    .argument('<namespace/pod[/container]>', 'what to checkpoint', parseTarget)
    .addOption(
      new Option(
        '--timeout <seconds>',
        'how long the runtime may take (default: as the agent is configured)',
      ).argParser(parseSeconds),
    )
    .addOption(
      new Option('--async', 'only start it, and print the id of the operation; see its state with get'),
    )
    .addOption(
      new Option(
        '--wait',
        'with --async: wait for the end; Ctrl-C or a lost connection does not cancel the checkpoint',
      ),
    )
    .action(async (path: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      if (flags.async && path.split('/').length === 2)
        throw new ExitError(exitCodes.usage, '--async is for one container');
      if (flags.wait && !flags.async) throw new ExitError(exitCodes.usage, '--wait is for --async');
      context.stdout.write(`${await checkpoint(path, flags, context)}\n`);
    });
}

/** Returns the target as a path with encoded segments. */
function parseTarget(text: string): string {
  const parts = text.split('/');
  if ((parts.length === 2 || parts.length === 3) && parts.every((part) => part !== ''))
    return parts.map(encodeURIComponent).join('/');
  throw new InvalidArgumentError('It must be NAMESPACE/POD or NAMESPACE/POD/CONTAINER.');
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

async function checkpoint(path: string, flags: Flags, context: CommandContext): Promise<string> {
  const [namespace = '', name = ''] = path.split('/').map(decodeURIComponent);
  await using client = await connectAgent(flags, { namespace, name });
  using _progress = showProgress(context, `checkpointing ${decodeURIComponent(path)}`);
  const query = flags.timeout === undefined ? '' : `?timeout=${flags.timeout}`;
  if (flags.async) return await startOperation(client, `/checkpoint/${path}${query}`, flags, context);
  // no timeout here: the agent has its own, and closing the connection would cancel the checkpoint
  const response = await client.request({
    method: 'POST',
    path: `/checkpoint/${path}${query}`,
    timeoutMs: 0,
    signal: context.signal,
  });
  if (response.code === 200) return parseArchivePaths(response.body);
  throw responseError(client, response);
}

/** A line for each archive; the manifest of a pod's checkpoint comes last. */
function parseArchivePaths(body: string): string {
  const response: unknown = JSON.parse(body);
  const { items, manifest } = isRecord(response) ? response : {};
  const paths: unknown[] = Array.isArray(items)
    ? [...items, ...(manifest === undefined ? [] : [manifest])]
    : [];
  if (paths.length > 0 && paths.every((path) => typeof path === 'string')) return paths.join('\n');
  throw new ExitError(exitCodes.failed, 'the agent answered without the path of an archive');
}

/** Returns the id of the operation; with `--wait` the path of the archive. */
async function startOperation(
  client: ApiClient,
  path: string,
  { wait }: Flags,
  { signal }: CommandContext,
): Promise<string> {
  const headers = { prefer: 'respond-async' };
  const { id } = await requestAgent(client, { method: 'POST', path, headers, signal });
  if (typeof id !== 'string')
    throw new ExitError(exitCodes.failed, `the agent at ${client.server} does not support --async`);
  return wait ? await waitForOperation(client, id, signal) : id;
}

const maxConsecutiveFailures = 10;
const retryMs = 1000;

/**
 * Waits until an operation has ended, over as many connections as that takes, and returns the path of the archive.
 * Throws an ExitError with the agent's message when the operation failed.
 */
async function waitForOperation(client: ApiClient, id: string, signal: AbortSignal): Promise<string> {
  for (let failures = 0; ; ) {
    try {
      const operation = await watchOperation(client, id, signal);
      if (operation['state'] === 'Done') return String(operation['path']);
      if (operation['state'] === 'Failed' || operation['state'] === 'Cancelled')
        throw new ExitError(exitCodes.failed, String(operation['message']));
      failures = 0; // an agent may end a watch early
    } catch (error) {
      failures += 1;
      if (!(error instanceof ConnectionError) || failures >= maxConsecutiveFailures) throw error;
    }
    await systemClock.sleep(retryMs, signal);
    signal.throwIfAborted();
  }
}

const maxStateBytes = 1024 * 1024;

/** Returns the last state that the watch has brought before it ended. */
async function watchOperation(
  client: ApiClient,
  id: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const request = { method: 'GET', path: `${pathOf(id)}?watch=true`, signal } as const;
  let last: string | undefined;
  for await (const line of splitLines(client.download(request, 0), maxStateBytes)) last = line;
  const operation: unknown = JSON.parse(last ?? '{}');
  return isRecord(operation) ? operation : {};
}
