import { Command } from 'commander';
import { systemClock } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { agentOptions } from '../agent-client/options.ts';
import { numberCell, requestAgent, textCell, toRecords } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { outputOption, writeResult, writeWarnings } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatRoughDuration, sanitize } from '../terminal/text.ts';
import { formatRemarks } from './check.ts';

type Flags = AgentFlags & OutputFlags;

/** `nodeward seccomp ls` */
export function lsCommand(context: CommandContext): Command {
  const command = new Command('ls')
    .description('List the seccomp profiles of a node, with their errors and the containers that use them.')
    .addOption(outputOption('text', 'json', 'yaml'));
  for (const option of agentOptions()) command.addOption(option);
  return command.action(async (flags: Flags) => {
    await using client = await connectAgent(flags);
    const status = await requestAgent(client, { method: 'GET', path: '/seccomp', signal: context.signal });
    writeResult(context, flags.output, status, () => formatProfiles(status, systemClock.now()));
    if (flags.output === 'text' && typeof status['problem'] === 'string')
      writeWarnings(context, [status['problem']]);
  });
}

/** A row for each profile, then its errors and warnings. */
export function formatProfiles(status: Record<string, unknown>, nowMs: number): string {
  const profiles = toRecords(status['profiles']);
  const rows = profiles.map((profile) => [
    textCell(profile['name']),
    formatState(profile),
    numberCell(profile['size']),
    formatRoughDuration(nowMs - Date.parse(String(profile['modified']))),
    formatUsers(profile['usedBy']),
    textCell(profile['digest']).slice(0, 'sha256:'.length + 12),
  ]);
  const head = ['NAME', 'STATE', 'BYTES', 'AGE', 'USED BY', 'DIGEST'];
  const remarks = profiles.flatMap((profile) => [
    ...formatRemarks(textCell(profile['name']), 'error', profile['errors']),
    ...formatRemarks(textCell(profile['name']), 'warning', profile['warnings']),
  ]);
  const folder = typeof status['folder'] === 'string' ? `profiles in ${sanitize(status['folder'])}\n` : '';
  return `${folder}${formatTable([head, ...rows])}${remarks.join('')}`;
}

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
