import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { actionCauses, actionFields, metadataCauses } from '../authorization/access-review.ts';
import { nonResourceRule, resourceRule } from '../authorization/self-subject-rules-review.ts';
import { invalidValue } from '../cause.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { accessHolder } from './parts.ts';

const whatCan = struct('AccessQueryWhatCan', {
  user: field(1, string, 'The user; without a user and groups the caller is meant.'),
  groups: field(2, list(string), 'The groups of the user.'),
  namespace: field(3, string, 'Only this namespace, and what counts everywhere; empty means all.'),
});

const spec = struct('AccessQuerySpec', {
  whoCan: field(1, struct('AccessQueryWhoCan', actionFields), 'Asks who may do this.'),
  whatCan: field(2, whatCan, 'Asks what a subject may do.'),
});

const namespaceRules = struct('AccessNamespaceRules', {
  namespace: field(1, string, 'The namespace; empty for what counts everywhere.'),
  resourceRules: field(2, list(resourceRule), 'What may be done with resources.'),
  nonResourceRules: field(3, list(nonResourceRule), 'What may be done with paths.'),
});

const status = struct('AccessQueryStatus', {
  subjects: field(1, list(accessHolder), 'Who may do it.'),
  moreSubjects: field(2, int32, 'How many more there are.'),
  namespaces: field(3, list(namespaceRules), 'What may be done, by namespace.'),
  moreNamespaces: field(4, int32, 'How many more namespaces there are where something may be done.'),
  incomplete: field(5, bool, 'Whether there may be more that cannot be listed.'),
  errors: field(6, list(string), 'What went wrong on the way, or cannot be listed.'),
});

const root = objectStruct('AccessQuery', {
  spec: required(2, spec, 'The question: exactly one of its fields.'),
  status: field(3, status, 'The answer, filled in by the server.'),
});

export interface AccessNamespaceRules extends Infer<typeof namespaceRules> {}
export interface AccessQueryStatus extends Infer<typeof status> {}

/** Asks who may perform an action, or what a user may do. The answer includes bindings of other users. */
export interface AccessQuery extends Infer<typeof root> {}

function validate(query: AccessQuery): Cause[] {
  const { whoCan, whatCan: what } = query.spec;
  const causes = metadataCauses(query);
  if ((whoCan === undefined) === (what === undefined)) {
    const detail = 'exactly one of whoCan and whatCan must be specified';
    return [...causes, invalidValue('spec', query.spec, detail)];
  }
  if (whoCan === undefined) return causes;
  const ofAction = actionCauses(whoCan);
  return [...causes, ...ofAction.map((cause) => ({ ...cause, field: `spec.whoCan${cause.field.slice(4)}` }))];
}

export const accessQueryKind = defineKind<AccessQuery>({
  group: 'access.nodeward.io',
  version: 'v1',
  kind: 'AccessQuery',
  doc: 'Lists who may do something, or what a subject may do, and through which bindings; nothing is stored.',
  resource: 'accessqueries',
  singular: 'accessquery',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
  validate,
});
