import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import { quoted } from './remarks.ts';
import type { CriSecurityProfile } from './security-profile.ts';
import { localhost, runtimeDefault, unconfined } from './security-profile.ts';
import type { Judgement } from './types.ts';
import type { ContainerRefusal, WantedSeccomp } from './wanted.ts';
import { wantedSeccomp } from './wanted.ts';

/** What has come of looking for a file below the folder. */
export type FoundProfile =
  /** `path`: absolute, inside the folder, with no symbolic link in it. */
  | { readonly kind: 'found'; readonly path: string; readonly judgement: Judgement }
  | { readonly kind: 'missing' }
  /** It is there and will not be taken; `reason` is about "it". */
  | { readonly kind: 'refused'; readonly reason: string };

export interface ResolveOptions<SeccompDefault extends boolean = boolean> {
  /** The field of the configuration: what a container of which nothing is said gets. There is no default for it here. */
  readonly seccompDefault: SeccompDefault;
  /** Absolute: where the profiles lie. */
  readonly folder: string;
  /** Looks for a profile; the path is relative and goes down only. */
  find(localhostProfile: string): Promise<FoundProfile>;
}

/** What the runtime is to be told of a container. */
export interface ResolvedSeccomp<SeccompDefault extends boolean = boolean> {
  readonly type: 'resolved';
  readonly wanted: WantedSeccomp<SeccompDefault>;
  /** Set always: runtimes take a message without it for "unconfined". */
  readonly profile: CriSecurityProfile;
  /** Of a file of this node what is known of it. */
  readonly judgement?: Judgement;
}

/**
 * The profile for a container of a pod as the runtime takes it, or why the container cannot be made. A file with errors is
 * refused here: the runtime would say so later, or not at all.
 */
export async function resolveSeccomp<SeccompDefault extends boolean>(
  pod: Pod,
  containerName: string,
  options: ResolveOptions<SeccompDefault>,
): Promise<ResolvedSeccomp<SeccompDefault> | ContainerRefusal> {
  const wanted = wantedSeccomp(pod, containerName, options);
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
  wanted: Extract<WantedSeccomp, { type: 'Localhost' }>,
  { folder, find }: ResolveOptions,
): Promise<ResolvedSeccomp<never> | ContainerRefusal> {
  const { localhostProfile } = wanted;
  const wrong = notDescending(localhostProfile);
  const shownPath = quoted(join(folder, localhostProfile));
  if (wrong !== undefined)
    return cannotLoad(quoted(localhostProfile), `it ${wrong}: profiles lie below ${folder}`);
  const found = await find(localhostProfile);
  if (found.kind === 'missing') {
    const plain = join(folder, localhostProfile);
    return cannotLoad(shownPath, `open ${plain}: no such file or directory`);
  }
  if (found.kind === 'refused') return cannotLoad(shownPath, found.reason);
  const [error, ...more] = found.judgement.errors;
  if (error === undefined)
    return { type: 'resolved', wanted, profile: localhost(found.path), judgement: found.judgement };
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const where = error.path === '' ? '' : `${error.path}: `;
  return cannotLoad(shownPath, `it is not valid: ${where}${error.message}${others}`);
}

const maxPathLength = 4096;

function notDescending(path: string): string | undefined {
  if (path.startsWith('/')) return 'must be a relative path';
  if (path.split('/').includes('..')) return "must not contain '..'";
  if (path.includes('\0')) return 'must not contain a zero byte';
  if (path.length > maxPathLength) return `must have at most ${maxPathLength} characters`;
  return path.split('/').every((part) => part === '' || part === '.') || path.endsWith('/')
    ? 'must name a file'
    : undefined;
}

/** In the words that containerd has for it, as they reach the container's status in the reference. */
function cannotLoad(shownPath: string, why: string): ContainerRefusal {
  const message = `failed to create containerd container: cannot load seccomp profile ${shownPath}: ${why}`;
  return { type: 'refused', reason: 'CreateContainerError', message };
}
