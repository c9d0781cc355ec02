import type { AccessDiffStatus, AccessReference, AccessRight } from '../../api/index.ts';
import { andMore, named, shownTable, targetOf } from './report.ts';

/** What changes, as people read it: `+` is gained, `-` lost. */
export function shownDiff({ changes = [], moreSubjects, truncated }: AccessDiffStatus): string {
  const rows = changes.flatMap(({ subject, gains = [], loses = [], moreRights }) => [
    ...gains.map((right) => rowOf('+', subject, right)),
    ...loses.map((right) => rowOf('-', subject, right)),
    ...(moreRights === undefined ? [] : [['', named(subject), '', '', `and ${moreRights} more`]]),
  ]);
  if (rows.length === 0) return truncated ? 'there is too much to compare\n' : 'nothing changes\n';
  return `${shownTable(['', 'SUBJECT', 'NAMESPACE', 'VERBS', 'OF'], rows)}${andMore(moreSubjects, 'subjects who may gain or lose something')}`;
}

function rowOf(sign: '+' | '-', subject: AccessReference, { namespace, rule, exceptIn = [] }: AccessRight) {
  const but = exceptIn.length === 0 ? '' : ` but ${exceptIn.join(', ')}`;
  const where = namespace === undefined ? `(everywhere${but})` : namespace;
  return [sign, named(subject), where, rule.verbs.join(', '), targetOf(rule)];
}
