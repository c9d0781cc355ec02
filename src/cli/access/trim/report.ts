import type { PolicyRule } from '../../../api/index.ts';
import { writeYaml } from '../../../api/index.ts';
import { harmless, targetOf } from '../report.ts';
import type { PlaceRules } from './rules.ts';

/** What somebody did, the least that covers it, and what they hold besides. */
export interface TrimReport {
  /** `User jane`; a service account as the user that it is. */
  subject: string;
  /** Of all that is in the log; times are RFC 3339, empty where there is nothing. */
  log: { files: string[]; lines: number; damaged: number; first: string; last: string };
  /** Of the subject alone. */
  use: { requests: number; refused: number; first: string; last: string };
  /** How many rights were used that everybody has, and that the roles leave out. */
  leftOut: number;
  objects: object[];
  unused?: PlaceRules[];
  wider?: PlaceRules[];
  notes: string[];
}

/** As YAML for `kubectl apply`, with the rest as comments. */
export function shownTrim(report: TrimReport): string {
  const { subject, log, use, leftOut, objects, unused, wider, notes } = report;
  const reach = log.first === '' ? 'nothing' : `${log.first} to ${log.last} (${spanOf(log)})`;
  const own = use.first === '' ? '' : `, the first at ${use.first}, the last at ${use.last}`;
  const lines = [
    `What ${subject} did, by the audit log.`,
    `The log has: ${reach}; ${log.lines} lines, ${log.damaged} damaged.`,
    `Requests: ${use.requests} allowed, ${use.refused} refused${own}.`,
    ...(leftOut === 0 ? [] : [`${leftOut} rights that everybody has are left out.`]),
    ...shownPlaces('Held and not used in that time:', 'Nothing is held that was not used.', unused),
    ...shownPlaces('Used in part only, being for more than was used:', '', wider),
    ...notes.map((note) => `Note: ${note}.`),
  ];
  const head = lines.map((line) => commented(line)).join('\n');
  return `${head}\n${objects.map((object) => writeYaml(object)).join('---\n')}`;
}

/** On one line, whatever is in it: what came after a break would be applied. */
function commented(line: string): string {
  return `# ${harmless(line).replaceAll(/[\u2028\u2029]/g, '?')}`;
}

function shownPlaces(title: string, none: string, places: readonly PlaceRules[] | undefined): string[] {
  if (places === undefined) return [];
  if (places.length === 0) return none === '' ? [] : [none];
  const rows = places.flatMap(({ namespace, rules }) =>
    rules.map((rule) => `  ${namespace === '' ? '(everywhere)' : namespace}: ${shownRule(rule)}`),
  );
  return [title, ...rows];
}

function shownRule(rule: PolicyRule): string {
  return `${rule.verbs.join(', ')} ${targetOf(rule)}`;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long the log reaches, in the two largest units. */
function spanOf({ first, last }: { first: string; last: string }): string {
  const ms = Math.max(0, Date.parse(last) - Date.parse(first));
  const [days, hours, minutes] = [ms / dayMs, (ms % dayMs) / hourMs, (ms % hourMs) / minuteMs].map(
    Math.floor,
  );
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return `${minutes} min ${Math.floor((ms % minuteMs) / 1000)} s`;
}
