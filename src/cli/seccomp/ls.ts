import { Command } from 'commander';
import { isRecord } from '../../api/index.ts';
import { systemClock } from '../../base/index.ts';
import { harmless } from '../access/report.ts';
import type { AgentFlags } from '../checkpoint/index.ts';
import { agentOptions, askAgent, connectAgent, rendered, table } from '../checkpoint/index.ts';
import type { CommandContext } from '../context.ts';
import type { OutputFlags } from './output-option.ts';
import { outputOption } from './output-option.ts';
import { remarkLines } from './remark-lines.ts';

type Flags = AgentFlags & OutputFlags;

/** `nodeward seccomp ls` */
export function lsCommand(context: CommandContext): Command {
  const command = new Command('ls')
    .description('List the seccomp profiles of a node, with what is wrong with them and who uses them.')
    .addOption(outputOption());
  for (const option of agentOptions('whose agent is asked (default: the only node, or this machine)'))
    command.addOption(option);
  return command.action(async (flags: Flags) => {
    await using client = await connectAgent(flags);
    const status = await askAgent(client, { method: 'GET', path: '/seccomp', signal: context.signal });
    context.stdout.write(await rendered(flags, status, () => profilesText(status, systemClock.now())));
    if (flags.output === undefined && typeof status['problem'] === 'string')
      context.stderr.write(`warning: ${harmless(status['problem'])}\n`);
  });
}

/** For people. What an agent sends is read with care: it may be of another version. */
export function profilesText(status: Record<string, unknown>, nowMs: number): string {
  const profiles = recordsIn(status['profiles']);
  const rows = profiles.map((profile) => [
    text(profile['name']),
    stateOf(profile),
    typeof profile['size'] === 'number' ? String(profile['size']) : '-',
    age(profile['modified'], nowMs),
    usersOf(profile['usedBy']),
    text(profile['digest']).slice(0, 'sha256:'.length + 12),
  ]);
  const head = ['NAME', 'STATE', 'BYTES', 'AGE', 'USED BY', 'DIGEST'];
  const remarks = profiles.flatMap((profile) => [
    ...remarkLines(text(profile['name']), 'error', profile['errors']),
    ...remarkLines(text(profile['name']), 'warning', profile['warnings']),
  ]);
  const folder = typeof status['folder'] === 'string' ? `profiles in ${harmless(status['folder'])}\n` : '';
  return `${folder}${table([head, ...rows])}${remarks.join('')}`;
}

const recordsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? harmless(value) : '-');

function stateOf({ valid, state }: Record<string, unknown>): string {
  if (typeof valid === 'boolean') return valid ? 'valid' : 'invalid';
  return text(state);
}

/** `2 containers`, or the one. */
function usersOf(value: unknown): string {
  const [first, ...more] = recordsIn(value);
  if (first === undefined) return '-';
  if (more.length > 0) return `${more.length + 1} containers`;
  return ['namespace', 'pod', 'container'].map((name) => text(first[name])).join('/');
}

function age(modified: unknown, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(String(modified))) / 1000);
  if (!Number.isFinite(seconds)) return '-';
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))}${unit}`;
}
