import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { metadataCauses } from '../authorization/access-review.ts';
import { invalidValue, tooManyItems } from '../cause.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { accessChange, accessDiffObject, accessReference } from './parts.ts';

/** How many objects a change may have. */
const maxObjects = 1_000;

const spec = struct('AccessDiffSpec', {
  objects: field(1, list(accessDiffObject), 'Roles and bindings, created or changed in this order.'),
  deleted: field(2, list(accessReference), 'Roles and bindings that are deleted after that.'),
  replace: field(
    3,
    bool,
    'Whether the objects replace what is there, as with PUT; otherwise labels that they do not name stay, as with apply.',
  ),
});

const status = struct('AccessDiffStatus', {
  changes: field(1, list(accessChange), 'What changes, by subject.'),
  moreSubjects: field(2, int32, 'How many more subjects there are that were not looked at.'),
  truncated: field(3, bool, 'Whether the lists are incomplete.'),
  incomplete: field(4, bool, 'Whether an authorizer counts that cannot tell whom it allows what.'),
  errors: field(5, list(string), 'What went wrong on the way, or was left out.'),
});

const root = objectStruct('AccessDiff', {
  spec: required(2, spec, 'The question: what is written.'),
  status: field(3, status, 'The answer, filled in by the server.'),
});

export interface AccessDiffSpec extends Infer<typeof spec> {}
export interface AccessDiffStatus extends Infer<typeof status> {}

/** Asks who gains and who loses which rights by a change of roles and bindings. The answer includes other users. */
export interface AccessDiff extends Infer<typeof root> {}

function validate(diff: AccessDiff): Cause[] {
  const { objects = [], deleted = [] } = diff.spec;
  const count = objects.length + deleted.length;
  const causes = metadataCauses(diff);
  if (count > maxObjects) causes.push(tooManyItems('spec.objects', count, maxObjects));
  if (count > 0) return causes;
  return [
    ...causes,
    invalidValue('spec', diff.spec, 'at least one of objects and deleted must be specified'),
  ];
}

export const accessDiffKind = defineKind<AccessDiff>({
  group: 'access.nodeward.io',
  version: 'v1',
  kind: 'AccessDiff',
  doc: 'Tells who gains and who loses which rights by a change of roles and bindings; nothing is stored.',
  resource: 'accessdiffs',
  singular: 'accessdiff',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
  validate,
});
