import { Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes, systemClock, tryParseRecord } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ConnectionError, splitLines } from '../../client/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent, responseError } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption, writeResult } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import type { TextResult } from '../terminal/result.ts';
import { parseCheckpointId, pathOf } from './checkpoint-id.ts';
import type { Target } from './target.ts';
import { describeTarget, parseTarget, pathOfTarget, resolveTarget } from './target.ts';

interface Flags extends AgentFlags, OutputFlags {
  namespace?: string;
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
    .argument('<namespace/pod[/container]>', 'what to checkpoint; with -n: POD[/CONTAINER]', parseTarget)
    .addOption(new Option('-n, --namespace <name>', 'namespace of the pod'))
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
    .addOption(textOutputOption())
    .action(async (parts: string[], _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const target = resolveTarget(parts, flags.namespace);
      if (flags.async && target.container === undefined)
        throw new ExitError(exitCodes.usage, '--async is for one container');
      if (flags.wait && !flags.async) throw new ExitError(exitCodes.usage, '--wait is for --async');
      writeResult(context, flags.output, await checkpoint(target, flags, context));
    });
}

function parseSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

async function checkpoint(target: Target, flags: Flags, context: CommandContext): Promise<TextResult> {
  const { namespace, pod, container } = target;
  await using client = await connectAgent(flags, { namespace, name: pod });
  const name = [namespace, pod, ...(container === undefined ? [] : [container])].join('/');
  using _progress = showProgress(context, `checkpointing ${name}`);
  const query = flags.timeout === undefined ? '' : `?timeout=${flags.timeout}`;
  const path = `/checkpoint/${pathOfTarget(target)}${query}`;
  if (flags.async) return await startOperation(client, path, flags, context);
  // no timeout here: the agent has its own, and closing the connection would cancel the checkpoint
  const response = await client.request({ method: 'POST', path, timeoutMs: 0, signal: context.signal });
  if (response.code === 200) return toResult(response.body);
  const error = responseError(client, response);
  if (response.code !== 404 || isStatus(response.body)) throw error;
  const asked = describeTarget(target, flags.namespace !== undefined);
  throw new ExitError(exitCodes.failed, `${error.message} (${asked})`, { cause: error });
}

/** Whether the control plane, on the way to the agent, sent it. */
const isStatus = (body: string): boolean => tryParseRecord(body)?.['kind'] === 'Status';

/** A line for each archive; the manifest of a pod's checkpoint comes last. */
function toResult(body: string): TextResult {
  const response: unknown = JSON.parse(body);
  const { items, manifest } = isRecord(response) ? response : {};
  const paths: unknown[] = Array.isArray(items) ? items : [];
  const all = [...paths, ...(manifest === undefined ? [] : [manifest])];
  if (!isRecord(response) || all.length === 0 || !all.every((path) => typeof path === 'string'))
    throw new ExitError(exitCodes.failed, 'the agent answered without the path of an archive');
  return {
    document: response,
    names: paths.map((path) => parseCheckpointId(String(path))),
    text: () => `${all.join('\n')}\n`,
  };
}

/** The operation; with `--wait` its archive. */
async function startOperation(
  client: ApiClient,
  path: string,
  { wait }: Flags,
  { signal }: CommandContext,
): Promise<TextResult> {
  const headers = { prefer: 'respond-async' };
  const operation = await requestAgent(client, { method: 'POST', path, headers, signal });
  const { id } = operation;
  if (typeof id !== 'string')
    throw new ExitError(exitCodes.failed, `the agent at ${client.server} does not support --async`);
  if (!wait) return { document: operation, names: [id], text: () => `${id}\n` };
  return toResult(JSON.stringify({ items: [await waitForOperation(client, id, signal)] }));
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
