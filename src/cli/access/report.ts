import type {
  AccessExplanationStatus,
  AccessOpinion,
  AccessQueryStatus,
  AccessReference,
  NonResourceRule,
  PolicyRule,
  ResourceRule,
} from '../../api/index.ts';

/*
 * The answers about access as people read them. Names of subjects and roles come from whoever wrote them: characters
 * that a terminal would obey are shown as a question mark.
 */

/** Text from elsewhere, on one line. */
export function harmless(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, '?');
}

/** `question`: what was asked, `get pods in namespace team`. */
export function shownExplanation(status: AccessExplanationStatus, question: string): string {
  const { allowed, decidedBy, grants = [], moreGrants, nearMisses = [], moreNearMisses, remedy } = status;
  const { reason = '', asked = [] } = status;
  const somebody = harmless(status.user || `a member of ${(status.groups ?? []).join(', ')}`);
  if (allowed) {
    const rows = grants.flatMap(({ binding, role, subject, rules = [] }) =>
      rules.map((rule) => [named(binding), named(role), named(subject), shownRule(rule)]),
    );
    const table = rows.length === 0 ? '' : `\n${shownTable(['BINDING', 'ROLE', 'SUBJECT', 'RULE'], rows)}`;
    // RBAC's reason is the first row
    const why = reason === '' || grants.length > 0 ? '' : `: ${harmless(reason)}`;
    return `yes: ${somebody} may ${question} (${decidedBy}${why})\n${table}${andMore(moreGrants, 'bindings')}`;
  }
  const misses = nearMisses.map(({ reason, message }) => [reason, message]);
  const near = misses.length === 0 ? '' : `\n${shownTable(['NEARLY', 'BECAUSE'], misses)}`;
  const least =
    remedy === undefined ? '' : `\nThe least that would allow it (kubectl apply -f -):\n\n${remedy.manifest}`;
  const who = asked.length === 0 ? '' : `asked: ${asked.map(shownOpinion).join(', ')}\n`;
  return `no: ${somebody} may not ${question}\n${who}${near}${andMore(moreNearMisses, 'that nearly allow it')}${least}`;
}

function shownOpinion({ authorizer, verdict, reason = '' }: AccessOpinion): string {
  if (verdict !== 'Deny') return authorizer;
  return `${authorizer} (which denies it${reason === '' ? '' : `: ${harmless(reason)}`})`;
}

export function shownHolders({ subjects = [], moreSubjects }: AccessQueryStatus, question: string): string {
  if (subjects.length === 0) return `nobody may ${question}\n`;
  const rows = subjects.flatMap(({ subject, through = [], authorizer }) => [
    ...(authorizer === undefined ? [] : [[named(subject), `(${authorizer})`, '']]),
    ...through.map(({ binding, role }) => [named(subject), named(binding), named(role)]),
  ]);
  const table = shownTable(['SUBJECT', 'BINDING', 'ROLE'], rows);
  return `${table}${andMore(moreSubjects, 'subjects')}`;
}

export function shownRights({ namespaces = [], moreNamespaces }: AccessQueryStatus): string {
  const rows = namespaces.flatMap(({ namespace = '', resourceRules = [], nonResourceRules = [] }) =>
    [...resourceRules, ...nonResourceRules].map((rule) => [
      namespace === '' ? '(everywhere)' : namespace,
      rule.verbs.join(', '),
      targetOf(rule),
    ]),
  );
  if (rows.length === 0) return 'nothing\n';
  return `${shownTable(['NAMESPACE', 'VERBS', 'OF'], rows)}${andMore(moreNamespaces, 'namespaces')}`;
}

function shownRule(rule: PolicyRule): string {
  return `${rule.verbs.join(', ')} ${targetOf(rule)}`;
}

/** `pods, deployments.apps (web)`, or paths. */
export function targetOf(rule: ResourceRule & NonResourceRule): string {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (resources.length === 0) return nonResourceURLs.join(', ');
  const targets = apiGroups.flatMap((group) =>
    resources.map((resource) => (group === '' ? resource : `${resource}.${group}`)),
  );
  const names = resourceNames.length === 0 ? '' : ` (${resourceNames.join(', ')})`;
  return `${targets.join(', ')}${names}`;
}

export function named({ kind, namespace, name }: AccessReference): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

export function andMore(count: number | undefined, what: string): string {
  return count === undefined ? '' : `and ${count} more ${what}\n`;
}

const widestColumn = 60;

export function shownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(harmless))];
  const widths = head.map((_, at) =>
    Math.min(widestColumn, Math.max(...all.map((row) => row[at]?.length ?? 0))),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  ');
  return all.map((row) => `${line(row).trimEnd()}\n`).join('');
}
