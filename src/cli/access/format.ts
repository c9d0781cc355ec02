import type {
  AccessDiffStatus,
  AccessExplanationStatus,
  AccessOpinion,
  AccessQueryStatus,
  AccessReference,
  AccessRight,
  NonResourceRule,
  PolicyRule,
  ResourceRule,
} from '../../api/index.ts';
import { formatTable } from '../terminal/table.ts';
import { sanitize } from '../terminal/text.ts';

/** `question`: the action, such as `get pods in namespace team`. */
export function formatExplanation(status: AccessExplanationStatus, question: string): string {
  const user = sanitize(status.user || `a member of ${(status.groups ?? []).join(', ')}`);
  return status.allowed ? formatAllowed(status, user, question) : formatDenied(status, user, question);
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
  return `yes: ${user} may ${question} (${decidedBy}${why})\n${table}${formatMore(moreGrants, 'bindings')}`;
}

function formatDenied(status: AccessExplanationStatus, user: string, question: string): string {
  const { nearMisses = [], moreNearMisses, remedy, asked = [] } = status;
  const misses = nearMisses.map(({ reason, message }) => [reason, message]);
  const table = misses.length === 0 ? '' : `\n${formatAccessTable(['NEARLY', 'BECAUSE'], misses)}`;
  const proposal =
    remedy === undefined ? '' : `\nThe least that would allow it (kubectl apply -f -):\n\n${remedy.manifest}`;
  const authorizers = asked.length === 0 ? '' : `asked: ${asked.map(formatOpinion).join(', ')}\n`;
  const more = formatMore(moreNearMisses, 'that nearly allow it');
  return `no: ${user} may not ${question}\n${authorizers}${table}${more}${proposal}`;
}

function formatOpinion({ authorizer, verdict, reason = '' }: AccessOpinion): string {
  if (verdict !== 'Deny') return authorizer;
  return `${authorizer} (which denies it${reason === '' ? '' : `: ${sanitize(reason)}`})`;
}

/** Who may do what `question` says. */
export function formatSubjects({ subjects = [], moreSubjects }: AccessQueryStatus, question: string): string {
  if (subjects.length === 0) return `nobody may ${question}\n`;
  const rows = subjects.flatMap(({ subject, through = [], authorizer }) => [
    ...(authorizer === undefined ? [] : [[formatReference(subject), `(${authorizer})`, '']]),
    ...through.map(({ binding, role }) => [subject, binding, role].map(formatReference)),
  ]);
  const table = formatAccessTable(['SUBJECT', 'BINDING', 'ROLE'], rows);
  return `${table}${formatMore(moreSubjects, 'subjects')}`;
}

/** What a subject may do. */
export function formatRights({ namespaces = [], moreNamespaces }: AccessQueryStatus): string {
  const rows = namespaces.flatMap(({ namespace = '', resourceRules = [], nonResourceRules = [] }) =>
    [...resourceRules, ...nonResourceRules].map((rule) => [
      namespace === '' ? '(everywhere)' : namespace,
      rule.verbs.join(', '),
      formatRuleTarget(rule),
    ]),
  );
  if (rows.length === 0) return 'nothing\n';
  const table = formatAccessTable(['NAMESPACE', 'VERBS', 'OF'], rows);
  return `${table}${formatMore(moreNamespaces, 'namespaces')}`;
}

/** The rights that change: `+` is gained, `-` lost. */
export function formatDiff({ changes = [], moreSubjects, truncated }: AccessDiffStatus): string {
  const rows = changes.flatMap(({ subject, gains = [], loses = [], moreRights }) => [
    ...gains.map((right) => toDiffRow('+', subject, right)),
    ...loses.map((right) => toDiffRow('-', subject, right)),
    ...(moreRights === undefined ? [] : [['', formatReference(subject), '', '', `and ${moreRights} more`]]),
  ]);
  if (rows.length === 0) return truncated ? 'there is too much to compare\n' : 'nothing changes\n';
  const table = formatAccessTable(['', 'SUBJECT', 'NAMESPACE', 'VERBS', 'OF'], rows);
  return `${table}${formatMore(moreSubjects, 'subjects who may gain or lose something')}`;
}

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
