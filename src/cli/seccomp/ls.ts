import { Command } from 'commander';
import { systemClock } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { agentOptions } from '../agent-client/options.ts';
import { numberCell, requestAgent, textCell, toRecords } from '../agent-client/response.ts';
import type { Tone } from '../terminal/colour.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { isForPeople, listOutputOption, writeResult, writeWarnings } from '../terminal/output.ts';
import type { TableResult } from '../terminal/result.ts';
import { formatRoughDuration, sanitize } from '../terminal/text.ts';
import { formatRemarks } from './check.ts';

type Flags = AgentFlags & OutputFlags;

/** `nodeward seccomp ls` */
export function lsCommand(context: CommandContext): Command {
  const command = new Command('ls')
    .description('List the seccomp profiles of a node, with their errors and the containers that use them.')
    .addOption(listOutputOption());
  for (const option of agentOptions()) command.addOption(option);
  return command.action(async (flags: Flags) => {
    await using client = await connectAgent(flags);
    const status = await requestAgent(client, { method: 'GET', path: '/seccomp', signal: context.signal });
    writeResult(context, flags.output, listProfiles(status, systemClock.now()));
    if (isForPeople(flags.output) && typeof status['problem'] === 'string')
      writeWarnings(context, [status['problem']]);
  });
}

type Item = Record<string, unknown>;

/** A row for each profile, then its errors and warnings. */
export function listProfiles(status: Item, nowMs: number): TableResult<Item> {
  const profiles = toRecords(status['profiles']);
  const remarks = profiles.flatMap((profile) => [
    ...formatRemarks(textCell(profile['name']), 'error', profile['errors']),
    ...formatRemarks(textCell(profile['name']), 'warning', profile['warnings']),
  ]);
  const { folder } = status;
  return {
    document: status,
    rows: profiles,
    before: typeof folder === 'string' ? `profiles in ${sanitize(folder)}\n` : '',
    after: remarks.join(''),
    columns: [
      { head: 'NAME', cell: ({ name }) => textCell(name) },
      { head: 'STATE', cell: formatState, tone: (profile) => stateTones[formatState(profile)] },
      { head: 'BYTES', cell: ({ size }) => numberCell(size) },
      { head: 'AGE', cell: ({ modified }) => formatRoughDuration(nowMs - Date.parse(String(modified))) },
      { head: 'USED BY', cell: ({ usedBy }) => formatUsers(usedBy) },
      { head: 'DIGEST', cell: ({ digest }) => textCell(digest).slice(0, 'sha256:'.length + 12) },
      { head: 'WHOLE DIGEST', cell: ({ digest }) => textCell(digest), wide: true },
    ],
    name: ({ name }) => String(name ?? ''),
  };
}

const stateTones: Readonly<Record<string, Tone>> = { valid: 'good', invalid: 'bad' };

function formatState({ valid, state }: Record<string, unknown>): string {
  if (typeof valid === 'boolean') return valid ? 'valid' : 'invalid';
  return textCell(state);
}

/** `2 containers`, or the one. */
function formatUsers(value: unknown): string {
  const [first, ...more] = toRecords(value);
  if (first === undefined) return '-';
  if (more.length > 0) return `${more.length + 1} containers`;
  return ['namespace', 'pod', 'container'].map((name) => textCell(first[name])).join('/');
}
