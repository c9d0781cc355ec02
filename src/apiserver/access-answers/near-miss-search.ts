import type { AccessNearMiss, PolicyRule } from '../../api/index.ts';
import type { Grant } from '../authz/index.ts';
import { bindingReference, roleReference, subjectReference } from './references.ts';

/** The reasons why something is not allowed, the most likely first. */
const ranking = [
  ...['OtherNamespace', 'PathInNamespace', 'OtherGroup', 'GroupWithVersion'],
  ...[
    'SubresourceMissing',
    'SubresourceOnly',
    'ResourceMisspelt',
    'OtherPath',
    'ResourceNames',
    'VerbMissing',
  ],
  ...['RoleMissing', 'SubjectCase', 'ServiceAccountAsUser', 'ServiceAccountNamespace'],
  ...['GroupAsUser', 'UserAsGroup', 'GroupNotAsked'],
] as const;

export type MissReason = (typeof ranking)[number];

/** Near misses that are listed for each reason; the rest is counted. */
const maxPerReason = 20;
/** Rules and grants that are examined. */
const maxRules = 10_000;
const maxGrants = 200_000;

export interface Misses {
  found: AccessNearMiss[];
  more: number;
  /** Whether the search stopped at a limit. */
  isCut: boolean;
}

/** The near misses that were found, and how many rules and grants may still be examined. */
export class NearMissSearch {
  readonly #found = new Map<MissReason, AccessNearMiss[]>();
  #more = 0;
  #rules = maxRules;
  #grants = maxGrants;

  add(reason: MissReason, message: string, grant: Grant, rule?: PolicyRule): void {
    const others = this.#found.get(reason) ?? [];
    if (others.length >= maxPerReason) {
      this.#more++;
      return;
    }
    const [binding, role, subject] = [bindingReference(grant), roleReference(grant), subjectReference(grant)];
    const miss = { reason, message, binding, role, subject, ...(rule === undefined ? {} : { rule }) };
    this.#found.set(reason, [...others, miss]);
  }

  /** Counts a rule; false when no further rule may be examined. */
  takeRule(): boolean {
    return this.#rules-- > 0;
  }

  /** Counts a grant; false when no further grant may be examined. */
  takeGrant(): boolean {
    return this.#grants-- > 0;
  }

  result(): Misses {
    const found = ranking.flatMap((reason) => this.#found.get(reason) ?? []);
    return { found, more: this.#more, isCut: this.#rules < 0 || this.#grants < 0 };
  }
}
