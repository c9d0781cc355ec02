import type { AccessNearMiss, PolicyRule } from '../../api/index.ts';
import type { Grant } from '../authz/index.ts';
import { toldBinding, toldRole, toldSubject } from './told.ts';

/** Why something is not allowed, the likeliest reason first. */
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

/** So many are told for each reason; others are counted. */
const maxOfOne = 20;
/** So many rules and grants are looked at. */
const maxRules = 10_000;
const maxGrants = 200_000;

export interface Misses {
  found: AccessNearMiss[];
  more: number;
  /** Whether there was more to look at than is looked at. */
  isCut: boolean;
}

/** What has been found, and how much may still be looked at. */
export class Search {
  readonly #found = new Map<MissReason, AccessNearMiss[]>();
  #more = 0;
  #rules = maxRules;
  #grants = maxGrants;

  note(reason: MissReason, message: string, grant: Grant, rule?: PolicyRule): void {
    const others = this.#found.get(reason) ?? [];
    if (others.length >= maxOfOne) {
      this.#more++;
      return;
    }
    const [binding, role, subject] = [toldBinding(grant), toldRole(grant), toldSubject(grant)];
    const miss = { reason, message, binding, role, subject, ...(rule === undefined ? {} : { rule }) };
    this.#found.set(reason, [...others, miss]);
  }

  /** False when no further rule may be looked at. */
  takeRule(): boolean {
    return this.#rules-- > 0;
  }

  /** False when no further grant may be looked at. */
  takeGrant(): boolean {
    return this.#grants-- > 0;
  }

  result(): Misses {
    const found = ranking.flatMap((reason) => this.#found.get(reason) ?? []);
    return { found, more: this.#more, isCut: this.#rules < 0 || this.#grants < 0 };
  }
}
