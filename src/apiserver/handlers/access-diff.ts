import type { AccessDiff, AccessDiffSpec } from '../../api/index.ts';
import {
  accessDiffKind,
  apiVersionOf,
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
  StatusError,
} from '../../api/index.ts';
import { runOperation } from '../registry/index.ts';
import type { Answer, ApiRequest } from './request.ts';
import { readDeletion } from './write/delete-options.ts';

/** The header by which a write asks which rights of all users it would change, instead of returning the object. */
export const accessDiffHeader = 'Nodeward-Access-Diff';

const kinds: readonly object[] = [roleKind, clusterRoleKind, roleBindingKind, clusterRoleBindingKind];
const verbs: readonly string[] = ['create', 'update', 'patch', 'delete'];

/** Throws 400 unless the request writes one role or binding: other requests have no such answer. */
export function checkDiffable({ verb, resource }: Pick<ApiRequest, 'verb' | 'resource'>): void {
  if (kinds.includes(resource.kind) && verbs.includes(verb)) return;
  const message = `the header ${accessDiffHeader} is for writes of one Role, ClusterRole, RoleBinding or ClusterRoleBinding`;
  throw new StatusError('BadRequest', message);
}

function checkDryRun(request: ApiRequest): void {
  if (request.query.has('dryRun') || (request.verb === 'delete' && readDeletion(request).dryRun)) return;
  const message = `the header ${accessDiffHeader} is for a dry run: add the parameter dryRun=All, and nothing is written`;
  throw new StatusError('BadRequest', message);
}

/**
 * Performs the dry run with all its checks, and answers with the AccessDiff of what it would have written. An object that is
 * being deleted and waits for its finalizers counts as deleted. Throws 400 when the request is no dry run.
 */
export async function accessDiff(
  request: ApiRequest,
  write: (request: ApiRequest) => Promise<Answer>,
): Promise<Answer> {
  const { registry, user, namespace, name, resource } = request;
  const operation = registry.operation(accessDiffKind);
  if (operation === undefined) throw new Error('nobody answers an AccessDiff');
  checkDryRun(request);
  const written = await write(request);
  const { kind } = resource.kind;
  const deleted = [{ kind, name, ...(namespace === '' ? {} : { namespace }) }];
  const spec = writtenBy(request, written) ?? { deleted };
  const apiVersion = apiVersionOf(accessDiffKind, registry.groupSuffix);
  const body: AccessDiff = { kind: accessDiffKind.kind, apiVersion, spec: { ...spec, replace: true } };
  const context = { user, dryRun: true };
  const result = await runOperation(operation, { registry, namespace: '', name: '', body, context });
  if (!('object' in result)) throw new Error('an AccessDiff was answered with no object');
  const json = Buffer.from(JSON.stringify(result.object));
  const warnings = written.form === 'list' ? [] : written.warnings;
  return { form: 'object', code: 200, type: operation.body, json, warnings };
}

/** Undefined for an object that would be gone: deleted, or without its last finalizer. */
function writtenBy({ resource }: ApiRequest, written: Answer): AccessDiffSpec | undefined {
  if (written.form !== 'object') return undefined;
  const { kind, apiVersion, metadata = {}, ...rest } = resource.encoding.parse(written.json);
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp !== undefined && finalizers.length === 0) return undefined;
  const { name, namespace, labels } = metadata;
  const known = Object.entries({ name, namespace, labels }).filter(([, value]) => value !== undefined);
  const kept = Object.fromEntries(known);
  return { objects: [{ ...rest, kind: kind ?? '', apiVersion: apiVersion ?? '', metadata: kept }] };
}
