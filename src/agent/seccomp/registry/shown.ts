import type { ProfileStatus, SeccompStatus } from '../index.ts';
import type { ProfileUse } from './in-use.ts';
import type { SeccompRegistryService } from './registry.ts';
import type { RegisteredProfile, Verdict } from './types.ts';

/** What `/seccomp` answers of a profile. */
export interface ShownProfile extends ProfileStatus {
  readonly state: Verdict['kind'] | 'settling';
  /** It has changed and is not at rest yet; what else is told is of its former content. */
  readonly isChanging?: true;
}

/** Errors and warnings in one answer, shared evenly by the profiles; each has one of its own in any case. */
const remarkBudget = 10_000;

export function shownStatus(
  folder: string,
  registry: SeccompRegistryService,
): SeccompStatus & { readonly profiles: readonly ShownProfile[] } {
  const problem = registry.problem();
  const uses = registry.uses();
  const profiles = registry.profiles();
  const most = Math.max(1, Math.floor(remarkBudget / Math.max(1, profiles.length)));
  return {
    folder,
    ...(problem === undefined ? {} : { problem }),
    profiles: profiles.map((each) => shownProfile(each, uses.get(each.path) ?? [], most)),
  };
}

function shownProfile(profile: RegisteredProfile, uses: readonly ProfileUse[], most: number): ShownProfile {
  const { path, verdict, isSettling } = profile;
  return {
    name: path,
    state: verdict?.kind ?? 'settling',
    ...(isSettling && verdict !== undefined ? { isChanging: true } : {}),
    ...saidOf(verdict, most),
    usedBy: uses.flatMap(({ namespace, pod, containers }) =>
      containers.map((container) => ({ namespace, pod, container })),
    ),
  };
}

function saidOf(verdict: Verdict | undefined, most: number): Omit<ProfileStatus, 'name' | 'usedBy'> {
  if (verdict === undefined) return { errors: [], warnings: [] };
  if (!('digest' in verdict)) return { errors: [{ path: '', message: whyNot(verdict) }], warnings: [] };
  const { kind, digest, sizeBytes, modifiedMs, errors, warnings } = verdict;
  return {
    digest,
    size: sizeBytes,
    modified: new Date(modifiedMs).toISOString(),
    valid: kind === 'valid',
    errors: errors.slice(0, most),
    warnings: warnings.slice(0, most),
  };
}

function whyNot(verdict: Extract<Verdict, { kind: 'unreadable' | 'missing' }>): string {
  return verdict.kind === 'missing' ? 'it is not there, and pods name it' : verdict.reason;
}
