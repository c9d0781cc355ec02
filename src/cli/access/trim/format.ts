import { writeYaml } from '../../../api/index.ts';
import { sanitize } from '../../terminal/text.ts';
import { formatRule } from '../format.ts';
import type { NamespaceRules } from './roles.ts';

/** What a subject did, the smallest roles that allow it, and the rights that it has besides. */
export interface TrimReport {
  /** `User jane`; a service account by its user name. */
  subject: string;
  /** About the whole log; times are RFC 3339, empty if there are no entries. */
  log: { files: string[]; lines: number; damaged: number; first: string; last: string };
  /** About the subject only. */
  use: { requests: number; refused: number; first: string; last: string };
  /** Number of used rights that everybody has, which the roles leave out. */
  leftOut: number;
  objects: object[];
  unused?: NamespaceRules[];
  wider?: NamespaceRules[];
  notes: string[];
}

/** YAML for `kubectl apply`, with everything but the manifests as comments. */
export function formatTrimReport(report: TrimReport): string {
  const { subject, log, use, leftOut, objects, unused, wider, notes } = report;
  const reach = log.first === '' ? 'nothing' : `${log.first} to ${log.last} (${formatSpan(log)})`;
  const own = use.first === '' ? '' : `, the first at ${use.first}, the last at ${use.last}`;
  const lines = [
    `What ${subject} did, by the audit log.`,
    `The log has: ${reach}; ${log.lines} lines, ${log.damaged} damaged.`,
    `Requests: ${use.requests} allowed, ${use.refused} refused${own}.`,
    ...(leftOut === 0 ? [] : [`${leftOut} rights that everybody has are left out.`]),
    ...formatRules('Held and not used in that time:', 'Nothing is held that was not used.', unused),
    ...formatRules('Used in part only, being for more than was used:', '', wider),
    ...notes.map((note) => `Note: ${note}.`),
  ];
  // sanitized to one line each: anything after a line break would be applied
  const head = lines.map((line) => `# ${sanitize(line)}`).join('\n');
  return `${head}\n${objects.map((object) => writeYaml(object)).join('---\n')}`;
}

function formatRules(title: string, none: string, all: readonly NamespaceRules[] | undefined): string[] {
  if (all === undefined) return [];
  if (all.length === 0) return none === '' ? [] : [none];
  const rows = all.flatMap(({ namespace, rules }) =>
    rules.map((rule) => `  ${namespace === '' ? '(everywhere)' : namespace}: ${formatRule(rule)}`),
  );
  return [title, ...rows];
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The time that the log covers, in the two largest units. */
function formatSpan({ first, last }: { first: string; last: string }): string {
  const ms = Math.max(0, Date.parse(last) - Date.parse(first));
  const [days, hours, minutes] = [ms / dayMs, (ms % dayMs) / hourMs, (ms % hourMs) / minuteMs].map(
    Math.floor,
  );
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return `${minutes} min ${Math.floor((ms % minuteMs) / 1000)} s`;
}
