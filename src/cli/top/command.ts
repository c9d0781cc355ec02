import { Command, Option } from 'commander';
import { systemClock, withDeadline } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { agentOptions } from '../agent-client/options.ts';
import { durationParser } from '../flags/values.ts';
import { createPaint } from '../terminal/colour.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { listOutputOption, writeResult } from '../terminal/output.ts';
import { withProgress } from '../terminal/progress.ts';
import type { Answers } from './answers.ts';
import { askAgent, SummaryReader } from './answers.ts';
import type { SortKey } from './choice.ts';
import { sortKeys } from './choice.ts';
import { LiveView } from './live.ts';
import type { Look } from './look.ts';
import { readLook } from './look.ts';
import { describeUse } from './once.ts';
import { canBeLive, TerminalScreen } from './screen.ts';

/** For all that is asked at once. */
const timeoutMs = 15_000;

interface Flags extends AgentFlags, OutputFlags {
  once?: boolean;
  interval: number;
  sort: SortKey;
  containers?: boolean;
  namespace?: string;
  pod?: string;
}

/** `nodeward top` */
export function topCommand(context: CommandContext): Command {
  const command = new Command('top')
    .description(
      'Show what a node and its pods use: CPU, memory, disks, processes, and how far each is from its limits. On a terminal it is refreshed in place until q is pressed; elsewhere, with --once and with another -o than table it is printed once.',
    )
    .addOption(new Option('--once', 'print it once, on a terminal too'))
    .addOption(
      new Option('--interval <duration>', 'time between two looks')
        .default(2000, '2s')
        .argParser(durationParser('1s', '1h', '5s')),
    )
    .addOption(
      new Option('--sort <by>', 'what the pods are sorted by').choices(sortKeys).default(sortKeys[0]),
    )
    .addOption(new Option('--containers', 'list the containers of each pod, too'))
    .addOption(new Option('-n, --namespace <name>', 'only pods of this namespace (default: of all)'))
    .addOption(new Option('--pod <name>', 'only pods of this name'))
    .addOption(listOutputOption());
  for (const option of agentOptions()) command.addOption(option);
  return command.action(async (flags: Flags) => {
    const isLive = flags.output === 'table' && flags.once !== true && canBeLive(context);
    await using source = new AgentSource(flags);
    if (isLive) await showLive(context, flags, source);
    else await showOnce(context, flags, source);
  });
}

/** The agent, connected again after each failure: another port, certificate or address may be its own by then. */
class AgentSource implements AsyncDisposable {
  #flags: AgentFlags;
  #client: ApiClient | undefined;
  #summaries = new SummaryReader(systemClock);

  constructor(flags: AgentFlags) {
    this.#flags = flags;
  }

  /** Rejects when the agent cannot be asked, does not answer in time, or the signal aborts. */
  async ask(signal: AbortSignal): Promise<Answers> {
    const limits = { clock: systemClock, timeoutMs, signal };
    try {
      return await withDeadline(limits, 'the agent', async (cancel) =>
        askAgent(await this.#connected(cancel), this.#summaries, cancel),
      );
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#summaries = new SummaryReader(systemClock);
    await client?.[Symbol.asyncDispose]();
  }

  async #connected(cancel: AbortSignal): Promise<ApiClient> {
    if (this.#client !== undefined) return this.#client;
    const client = await connectAgent(this.#flags);
    const { announcePlace: _, ...flags } = this.#flags; // it has been announced, and the screen is taken from now on
    this.#flags = flags;
    if (!cancel.aborted) {
      this.#client = client;
      return client;
    }
    await client[Symbol.asyncDispose](); // nobody waits for it any more
    throw cancel.reason;
  }
}

async function showOnce(context: CommandContext, flags: Flags, source: AgentSource): Promise<void> {
  const { figures } = await withProgress(context, 'looking at the node', () => lookOnce(context, source));
  writeResult(context, flags.output, describeUse(figures, choiceOf(flags), systemClock.now()));
}

/** Between two looks, where one alone does not say how much is throttled. */
const compareMs = 1000;

async function lookOnce({ signal }: CommandContext, source: AgentSource): Promise<Look> {
  const look = readLook(await source.ask(signal), systemClock.now());
  if (!look.throttling.isFirst) return look;
  await systemClock.sleep(compareMs, signal);
  return readLook(await source.ask(signal), systemClock.now(), look);
}

async function showLive(context: CommandContext, flags: Flags, source: AgentSource): Promise<void> {
  const first = await withProgress(context, 'looking at the node', async () =>
    readLook(await source.ask(context.signal), systemClock.now()),
  );
  const live = new LiveView(
    {
      ...choiceOf(flags),
      ask: (signal) => source.ask(signal),
      clock: systemClock,
      intervalMs: flags.interval,
    },
    first,
  );
  using screen = TerminalScreen.open(context, createPaint(context), {
    onKey: live.onKey,
    onResize: live.draw,
    onClosed: live.quit,
  });
  await live.run(screen, context.signal);
}

const choiceOf = ({ namespace = '', pod = '', sort, containers = false }: Flags) => ({
  ...{ namespace, pod, sort, containers },
});
