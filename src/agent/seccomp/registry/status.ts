import type { ProfileStatus, SeccompStatus } from '../index.ts';
import type { ProfileUse } from './profile-uses.ts';
import type { SeccompRegistryService } from './registry.ts';
import type { RegisteredProfile, Verdict } from './types.ts';

/** A profile in the response of `/seccomp`. */
interface ProfileItem extends ProfileStatus {
  readonly state: Verdict['kind'] | 'settling';
  /** It has changed since the verdict and may still be changing; all other fields are about its previous content. */
  readonly isChanging?: true;
}

/** The limit of errors, and of warnings, in one response, divided evenly among the profiles; each profile has at least one. */
const remarkBudget = 10_000;

export function toSeccompStatus(
  folder: string,
  registry: SeccompRegistryService,
): SeccompStatus & { readonly profiles: readonly ProfileItem[] } {
  const problem = registry.problem();
  const uses = registry.uses();
  const profiles = registry.profiles();
  const maxRemarks = Math.max(1, Math.floor(remarkBudget / Math.max(1, profiles.length)));
  return {
    folder,
    ...(problem === undefined ? {} : { problem }),
    profiles: profiles.map((each) => toProfileItem(each, uses.get(each.path) ?? [], maxRemarks)),
  };
}

function toProfileItem(
  profile: RegisteredProfile,
  uses: readonly ProfileUse[],
  maxRemarks: number,
): ProfileItem {
  const { path, verdict, isSettling } = profile;
  return {
    name: path,
    state: verdict?.kind ?? 'settling',
    ...(isSettling && verdict !== undefined ? { isChanging: true } : {}),
    ...toVerdictFields(verdict, maxRemarks),
    usedBy: uses.flatMap(({ namespace, pod, containers }) =>
      containers.map((container) => ({ namespace, pod, container })),
    ),
  };
}

function toVerdictFields(
  verdict: Verdict | undefined,
  maxRemarks: number,
): Omit<ProfileStatus, 'name' | 'usedBy'> {
  if (verdict === undefined) return { errors: [], warnings: [] };
  if (!('digest' in verdict))
    return { errors: [{ path: '', message: describeProblem(verdict) }], warnings: [] };
  const { kind, digest, sizeBytes, modifiedMs, errors, warnings } = verdict;
  return {
    digest,
    size: sizeBytes,
    modified: new Date(modifiedMs).toISOString(),
    valid: kind === 'valid',
    errors: errors.slice(0, maxRemarks),
    warnings: warnings.slice(0, maxRemarks),
  };
}

function describeProblem(verdict: Extract<Verdict, { kind: 'unreadable' | 'missing' }>): string {
  return verdict.kind === 'missing' ? 'it is not there, and pods name it' : verdict.reason;
}
