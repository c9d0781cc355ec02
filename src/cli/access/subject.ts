import { InvalidArgumentError, Option } from 'commander';
import type { AccessReference } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { collectTexts } from '../flags/values.ts';

/** One whose rights are examined. */
export interface Subject {
  kind: 'User' | 'Group';
  /** For a service account its user name. */
  name: string;
}

export interface SubjectFlags {
  as?: Subject;
  asGroup?: string[];
}

/** The user and the groups of a review; empty: the caller. */
export interface Identity {
  user?: string;
  groups?: string[];
}

/** How a subject is written, in every command alike. */
export const subjectForms = 'NAME, User/NAME, Group/NAME, ServiceAccount/NAMESPACE/NAME';

export function parseSubject(text: string): Subject {
  const [, namespace, account] = /^ServiceAccount\/([^/:]+)\/([^/:]+)$/.exec(text) ?? [];
  if (account !== undefined) return { kind: 'User', name: `system:serviceaccount:${namespace}:${account}` };
  const [, kind, given] = /^(User|Group|ServiceAccount)\/(.*)$/s.exec(text) ?? [];
  const name = kind === undefined ? text : (given ?? '');
  if (name === '' || kind === 'ServiceAccount')
    throw new InvalidArgumentError(
      `It must be ${subjectForms}, or the user name system:serviceaccount:NAMESPACE:NAME.`,
    );
  return { kind: kind === 'Group' ? 'Group' : 'User', name };
}

/** `--as` and `--as-group`. `what`: whose rights the command is about, and the default. */
export const subjectOptions = (what: string): Option[] => [
  new Option('--as <subject>', `${what}: ${subjectForms}`).argParser(parseSubject),
  new Option('--as-group <group>', 'group of that user; may be repeated').argParser(collectTexts),
];

/** The subject of the argument or of `--as`. Throws an ExitError if both are given and differ. */
export function chooseSubject(argument: Subject | undefined, { as }: SubjectFlags): Subject | undefined {
  if (argument === undefined || as === undefined) return argument ?? as;
  if (argument.kind === as.kind && argument.name === as.name) return as;
  throw new ExitError(exitCodes.usage, `${argument.name} and --as ${as.name} are two subjects: give one`);
}

/** With those groups that every such user is in. */
export async function toIdentity({ as, asGroup = [] }: SubjectFlags): Promise<Identity> {
  if (as === undefined) return asGroup.length === 0 ? {} : { groups: asGroup };
  if (as.kind === 'Group') return { groups: [...new Set([as.name, ...asGroup])] };
  const authn = await import('../../apiserver/authn/index.ts');
  const account = authn.serviceAccountOf(as.name);
  const common = as.name === authn.anonymousName ? authn.unauthenticatedGroup : authn.authenticatedGroup;
  const own = account === undefined ? [] : authn.serviceAccountGroups(account.namespace);
  return { user: as.name, groups: [...new Set([...asGroup, ...own, common])] };
}

/** Whether what a subject of a binding may do, this user or a member of these groups may do. */
function appliesTo({ kind, namespace, name }: AccessReference, { user, groups = [] }: Identity): boolean {
  if (kind === 'Group') return groups.includes(name);
  return user === (kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name);
}

/** `ServiceAccount/NAMESPACE/NAME`: a reference as an argument. */
export function referenceName({ kind, namespace, name }: AccessReference): string {
  return [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

/** Those that apply to the subject of the flags; all if the flags name none. */
export async function selectSubjects<T extends { readonly subject: AccessReference }>(
  all: readonly T[] = [],
  flags: SubjectFlags,
): Promise<T[]> {
  if (flags.as === undefined && flags.asGroup === undefined) return [...all];
  const identity = await toIdentity(flags);
  return all.filter(({ subject }) => appliesTo(subject, identity));
}
