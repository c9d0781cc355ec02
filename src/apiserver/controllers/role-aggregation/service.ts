import { isDeepStrictEqual } from 'node:util';
import type { ClusterRole, PolicyRule } from '../../../api/index.ts';
import { clusterRoleKind, StatusError } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { AggregatedRoles } from './aggregated-roles.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** The two kinds of keys in the queue: a role that has changed, and a role whose rules are to be aggregated again. */
const [changed, aggregate] = ['look at ', 'gather '];

/**
 * Keeps the rules of ClusterRoles with an aggregationRule: those of all roles that its selectors select, in the order of
 * their names, each rule once. Rules that a client writes there are replaced (specification, section 2.3).
 */
export function roleAggregation(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const roles = registry.of(clusterRoleKind);
  const prefix = roles.prefix('');

  function read(name: string): ClusterRole | undefined {
    const stored = storage.get(prefix + name);
    return stored && roles.encoding.read(stored);
  }

  async function writeRules(name: string, members: readonly string[]): Promise<void> {
    const now = read(name);
    if (now?.aggregationRule === undefined) return;
    const unknown = storage.unreadable(prefix).find(({ key }) => storage.get(key) === undefined);
    // its labels are not known either: without its rules, rights would be taken away that it gives
    if (unknown !== undefined) throw new Error(`what ${unknown.key} adds to it is not known: ${unknown.why}`);
    const rules = union(members.map((member) => read(member)?.rules ?? []));
    if (isDeepStrictEqual(now.rules ?? [], rules)) return;
    await roles.update('', name, { ...now, rules }, '', context).catch(ignoreGone);
  }

  return controller('role-aggregation', options, (add) => {
    const aggregated = new AggregatedRoles();
    const addChanged = ({ key }: Stored) => add(changed + key.slice(prefix.length));
    return {
      follows: [
        { resource: roles, present: addChanged, added: addChanged, changed: addChanged, gone: addChanged },
      ],
      async work(key) {
        if (key.startsWith(aggregate)) {
          const name = key.slice(aggregate.length);
          return await writeRules(name, aggregated.membersOf(name) ?? []);
        }
        const name = key.slice(changed.length);
        for (const affected of aggregated.set(name, read(name))) add(aggregate + affected);
      },
    };
  });
}

function union(lists: readonly (readonly PolicyRule[])[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const rule of lists.flat()) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    const text = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
    if (!rules.has(text)) rules.set(text, rule);
  }
  return [...rules.values()];
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
}
