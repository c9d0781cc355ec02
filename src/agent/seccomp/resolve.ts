import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import { quote } from './remarks.ts';
import type { CriSecurityProfile } from './security-profile.ts';
import { localhost, runtimeDefault, unconfined } from './security-profile.ts';
import type { ContainerRefusal, SelectedSeccomp } from './select-profile.ts';
import { selectSeccomp } from './select-profile.ts';
import type { Judgement } from './types.ts';

/** The result of looking for a profile below the folder. */
export type FoundProfile =
  /** `path`: absolute, inside the folder, with no symbolic link in it. */
  | { readonly kind: 'found'; readonly path: string; readonly judgement: Judgement }
  | { readonly kind: 'missing' }
  /** The file exists and is not accepted; `reason` is a sentence about "it". */
  | { readonly kind: 'refused'; readonly reason: string };

export interface ResolveOptions<SeccompDefault extends boolean = boolean> {
  /** The configuration field: whether a container without a profile gets the runtime's default. It has no default here. */
  readonly seccompDefault: SeccompDefault;
  /** Absolute path of the profiles' folder. */
  readonly folder: string;
  /** Looks for a profile; the path is relative and has no `..`. */
  find(localhostProfile: string): Promise<FoundProfile>;
}

/** The profile to send to the runtime for a container. */
export interface ResolvedSeccomp<SeccompDefault extends boolean = boolean> {
  readonly type: 'resolved';
  readonly wanted: SelectedSeccomp<SeccompDefault>;
  /** Always set: runtimes treat a message without it as "unconfined". */
  readonly profile: CriSecurityProfile;
  /** The judgement of the file, for a profile of this node. */
  readonly judgement?: Judgement;
}

/**
 * Returns the profile of a container in the runtime's form, or why the container cannot be created. A file with errors is
 * refused here, because the runtime would report them later or not at all.
 */
export async function resolveSeccomp<SeccompDefault extends boolean>(
  pod: Pod,
  containerName: string,
  options: ResolveOptions<SeccompDefault>,
): Promise<ResolvedSeccomp<SeccompDefault> | ContainerRefusal> {
  const wanted = selectSeccomp(pod, containerName, options);
  switch (wanted.type) {
    case 'refused':
      return wanted;
    case 'RuntimeDefault':
      return { type: 'resolved', wanted, profile: runtimeDefault };
    case 'Unconfined':
      return { type: 'resolved', wanted, profile: unconfined };
    case 'Localhost':
      return await resolveFile(wanted, options);
  }
}

async function resolveFile(
  wanted: Extract<SelectedSeccomp, { type: 'Localhost' }>,
  { folder, find }: ResolveOptions,
): Promise<ResolvedSeccomp<never> | ContainerRefusal> {
  const { localhostProfile } = wanted;
  const wrong = findPathFault(localhostProfile);
  const quotedPath = quote(join(folder, localhostProfile));
  if (wrong !== undefined)
    return refuseFile(quote(localhostProfile), `it ${wrong}: profiles lie below ${folder}`);
  const found = await find(localhostProfile);
  if (found.kind === 'missing') {
    const plain = join(folder, localhostProfile);
    return refuseFile(quotedPath, `open ${plain}: no such file or directory`);
  }
  if (found.kind === 'refused') return refuseFile(quotedPath, found.reason);
  const [error, ...more] = found.judgement.errors;
  if (error === undefined)
    return { type: 'resolved', wanted, profile: localhost(found.path), judgement: found.judgement };
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const where = error.path === '' ? '' : `${error.path}: `;
  return refuseFile(quotedPath, `it is not valid: ${where}${error.message}${others}`);
}

const maxPathLength = 4096;

function findPathFault(path: string): string | undefined {
  if (path.startsWith('/')) return 'must be a relative path';
  if (path.split('/').includes('..')) return "must not contain '..'";
  if (path.includes('\0')) return 'must not contain a zero byte';
  if (path.length > maxPathLength) return `must have at most ${maxPathLength} characters`;
  return path.split('/').every((part) => part === '' || part === '.') || path.endsWith('/')
    ? 'must name a file'
    : undefined;
}

/** Containerd's words, as the reference puts them into the container's status. */
function refuseFile(quotedPath: string, why: string): ContainerRefusal {
  const message = `failed to create containerd container: cannot load seccomp profile ${quotedPath}: ${why}`;
  return { type: 'refused', reason: 'CreateContainerError', message };
}
