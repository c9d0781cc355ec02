import type {
  AccessDiff,
  AccessExplanationStatus,
  AccessOpinion,
  AccessQuery,
  AccessReference,
  AccessRight,
  NonResourceRule,
  PolicyRule,
  ResourceRule,
} from '../../api/index.ts';
import type { Paint, Tone } from '../terminal/colour.ts';
import { withoutColour } from '../terminal/colour.ts';
import type { Column, TableResult } from '../terminal/result.ts';
import { formatTable } from '../terminal/table.ts';
import { sanitize } from '../terminal/text.ts';
import { referenceName } from './subject.ts';

/** `question`: the action, such as `get pods in namespace team`. */
export function formatExplanation(
  status: AccessExplanationStatus,
  question: string,
  paint: Paint = withoutColour,
): string {
  const user = sanitize(status.user || `a member of ${(status.groups ?? []).join(', ')}`);
  return status.allowed
    ? `${paint('yes', 'good')}${formatAllowed(status, user, question)}`
    : `${paint('no', 'bad')}${formatDenied(status, user, question)}`;
}

function formatAllowed(status: AccessExplanationStatus, user: string, question: string): string {
  const { decidedBy, grants = [], moreGrants, reason = '' } = status;
  const rows = grants.flatMap(({ binding, role, subject, rules = [] }) =>
    rules.map((rule) => [
      formatReference(binding),
      formatReference(role),
      formatReference(subject),
      formatRule(rule),
    ]),
  );
  const table =
    rows.length === 0 ? '' : `\n${formatAccessTable(['BINDING', 'ROLE', 'SUBJECT', 'RULE'], rows)}`;
  // the reason of RBAC is the first row
  const why = reason === '' || grants.length > 0 ? '' : `: ${sanitize(reason)}`;
  return `: ${user} may ${question} (${decidedBy}${why})\n${table}${formatMore(moreGrants, 'bindings')}`;
}

function formatDenied(status: AccessExplanationStatus, user: string, question: string): string {
  const { nearMisses = [], moreNearMisses, remedy, asked = [] } = status;
  const misses = nearMisses.map(({ reason, message }) => [reason, message]);
  const table = misses.length === 0 ? '' : `\n${formatAccessTable(['NEARLY', 'BECAUSE'], misses)}`;
  const proposal =
    remedy === undefined ? '' : `\nThe least that would allow it (kubectl apply -f -):\n\n${remedy.manifest}`;
  const authorizers = asked.length === 0 ? '' : `asked: ${asked.map(formatOpinion).join(', ')}\n`;
  const more = formatMore(moreNearMisses, 'that nearly allow it');
  return `: ${user} may not ${question}\n${authorizers}${table}${more}${proposal}`;
}

function formatOpinion({ authorizer, verdict, reason = '' }: AccessOpinion): string {
  if (verdict !== 'Deny') return authorizer;
  return `${authorizer} (which denies it${reason === '' ? '' : `: ${sanitize(reason)}`})`;
}

/** Who may do what `question` says. */
export function listSubjects(review: AccessQuery, question: string): TableResult<readonly string[]> {
  const { subjects = [], moreSubjects } = review.status ?? {};
  const rows = subjects.flatMap(({ subject, through = [], authorizer }) => [
    ...(authorizer === undefined
      ? []
      : [[referenceName(subject), formatReference(subject), `(${authorizer})`, '']]),
    ...through.map(({ binding, role }) => [
      referenceName(subject),
      ...[subject, binding, role].map(formatReference),
    ]),
  ]);
  return {
    document: review,
    rows,
    columns: columnsOf(['SUBJECT', 'BINDING', 'ROLE'], 1),
    name: ([name = '']) => name,
    empty: `nobody may ${question}\n`,
    after: formatMore(moreSubjects, 'subjects'),
  };
}

/** What a subject may do. */
export function listRights(review: AccessQuery): TableResult<readonly string[]> {
  const { namespaces = [], moreNamespaces } = review.status ?? {};
  const rows = namespaces.flatMap(({ namespace = '', resourceRules = [], nonResourceRules = [] }) =>
    [...resourceRules, ...nonResourceRules].map((rule) => [
      namespace === '' ? '(everywhere)' : namespace,
      rule.verbs.join(', '),
      formatRuleTarget(rule),
    ]),
  );
  return {
    document: review,
    rows,
    columns: columnsOf(['NAMESPACE', 'VERBS', 'OF'], 0),
    name: ([, , targets = '']) => targets.split(', '),
    empty: 'nothing\n',
    after: formatMore(moreNamespaces, 'namespaces'),
  };
}

/** The rights that change: `+` is gained, `-` lost. */
export function listChanges(review: AccessDiff): TableResult<readonly string[]> {
  const { changes = [], moreSubjects, truncated } = review.status ?? {};
  const rows = changes.flatMap(({ subject, gains = [], loses = [], moreRights }) =>
    [
      ...gains.map((right) => toDiffRow('+', subject, right)),
      ...loses.map((right) => toDiffRow('-', subject, right)),
      ...(moreRights === undefined ? [] : [['', formatReference(subject), '', '', `and ${moreRights} more`]]),
    ].map((row) => [...row, referenceName(subject)]),
  );
  const [sign, ...others] = columnsOf(['', 'SUBJECT', 'NAMESPACE', 'VERBS', 'OF'], 0);
  const tone = ([gained]: readonly string[]): Tone | undefined =>
    gained === '+' ? 'bad' : gained === '-' ? 'good' : undefined;
  return {
    document: review,
    rows,
    columns: sign === undefined ? others : [{ ...sign, tone }, ...others],
    name: (row) => row.at(-1) ?? '',
    empty: truncated ? 'there is too much to compare\n' : 'nothing changes\n',
    after: formatMore(moreSubjects, 'subjects who may gain or lose something'),
  };
}

/** Columns for rows of cells; `from`: the index of the first one that is shown. */
const columnsOf = (heads: readonly string[], from: number): Column<readonly string[]>[] =>
  heads.map((head, index) => ({ head, cell: (row) => row[from + index] ?? '' }));

function toDiffRow(sign: '+' | '-', subject: AccessReference, right: AccessRight): string[] {
  const { namespace, rule, exceptIn = [] } = right;
  const exceptions = exceptIn.length === 0 ? '' : ` but ${exceptIn.join(', ')}`;
  const where = namespace === undefined ? `(everywhere${exceptions})` : namespace;
  return [sign, formatReference(subject), where, rule.verbs.join(', '), formatRuleTarget(rule)];
}

/** `get, list pods` */
export function formatRule(rule: PolicyRule): string {
  return `${rule.verbs.join(', ')} ${formatRuleTarget(rule)}`;
}

/** `pods, deployments.apps (web)`, or paths. */
function formatRuleTarget(rule: ResourceRule & NonResourceRule): string {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (resources.length === 0) return nonResourceURLs.join(', ');
  const targets = apiGroups.flatMap((group) =>
    resources.map((resource) => (group === '' ? resource : `${resource}.${group}`)),
  );
  const names = resourceNames.length === 0 ? '' : ` (${resourceNames.join(', ')})`;
  return `${targets.join(', ')}${names}`;
}

function formatReference({ kind, namespace, name }: AccessReference): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

function formatMore(count: number | undefined, what: string): string {
  return count === undefined ? '' : `and ${count} more ${what}\n`;
}

function formatAccessTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return formatTable([head, ...rows], { gap: 2 });
}
