import type { ApiObject, ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../api/index.ts';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
  StatusError,
} from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { describeError, forEachConcurrently } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import { defaultClusterRoleBindings, defaultClusterRoles } from './defaults.ts';
import { resolveGroups } from './groups.ts';
import { defaultRoleBindings, defaultRoles, roleNamespace } from './namespaced-roles.ts';
import { reconcileBinding, reconcileRole } from './reconcile.ts';

const context = { user: controlPlaneUser, dryRun: false };
const atOnce = 32;
const attempts = 5;
const races: ReadonlySet<string> = new Set(['AlreadyExists', 'Conflict', 'NotFound']);

/**
 * Makes sure that the default roles and bindings exist and are complete, except those annotated with autoupdate "false".
 * One that cannot be written because the store takes no writes is left for the next start.
 */
export async function ensureDefaultPolicy(registry: Registry, log: Logger): Promise<void> {
  const roles = registry.of(clusterRoleKind);
  const bindings = registry.of(clusterRoleBindingKind);
  const inSystem = { roles: registry.of(roleKind), bindings: registry.of(roleBindingKind) };
  const { rbac } = resolveGroups(registry.groupSuffix);
  const works = [
    ...defaultClusterRoles(registry.groupSuffix).map((role) => () => ensureRole(roles, role)),
    ...defaultRoles().map((role) => () => ensureRole(inSystem.roles, role, roleNamespace)),
    ...defaultRoleBindings(rbac).map(
      (wanted) => () => ensureBinding(inSystem.bindings, wanted, roleNamespace),
    ),
    ...defaultClusterRoleBindings(registry.groupSuffix).map(
      (wanted) => () => ensureBinding(bindings, wanted),
    ),
  ];
  await forEachConcurrently(works, atOnce, (work) =>
    retryRaces(work).catch((error: unknown) => {
      if (!(error instanceof StatusError)) throw error;
      log.warn(`a default role or binding could not be brought up to date: ${describeError(error)}`);
    }),
  );
}

/** Another server that starts at the same time may write first: then `work` starts again from what it has written. */
async function retryRaces(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const isRace = error instanceof StatusError && races.has(error.reason);
      if (!isRace || attempt === attempts) throw error;
    }
  }
}

async function ensureRole<T extends ClusterRole | Role>(
  roles: Resource<T>,
  wanted: T,
  namespace = '',
): Promise<void> {
  const stored = find(roles, wanted, namespace);
  if (stored === undefined) {
    await roles.create(namespace, wanted, context);
    return;
  }
  const next = reconcileRole(stored, wanted);
  if (next !== undefined) await roles.update(namespace, nameOf(wanted), next, '', context);
}

async function ensureBinding<T extends ClusterRoleBinding | RoleBinding>(
  bindings: Resource<T>,
  wanted: T,
  namespace = '',
): Promise<void> {
  const stored = find(bindings, wanted, namespace);
  if (stored === undefined) {
    await bindings.create(namespace, wanted, context);
    return;
  }
  const change = reconcileBinding(stored, wanted);
  if (change === undefined) return;
  const name = nameOf(wanted);
  if (!change.mustRecreate) {
    await bindings.update(namespace, name, change.next, '', context);
    return;
  }
  await bindings.delete(namespace, name, {}, context);
  await bindings.create(namespace, change.next, context);
}

function find<T extends ApiObject>(resource: Resource<T>, wanted: T, namespace: string): T | undefined {
  const stored = resource.storage.get(resource.prefix(namespace) + nameOf(wanted));
  return stored && resource.encoding.read(stored);
}

function nameOf({ metadata }: ApiObject): string {
  return metadata?.name ?? '';
}
