import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../terminal/context.ts';
import { findInstalledRootDir } from './installed-flags.ts';

/** What a command talks to, or looks into: a root folder, or the API server of a kubeconfig. */
export interface Place {
  kind: 'rootDir' | 'kubeconfig';
  /** Absolute. */
  path: string;
  /** How it was found: `$KUBECONFIG`, `of this checkout`. */
  origin: string;
}

/** What was given by flags, and what the command can use. */
interface Wanted {
  rootDir?: string | undefined;
  kubeconfig?: string | undefined;
  /** The command sends requests to an API server, so that $KUBECONFIG counts. */
  usesServer?: boolean;
}

type Surroundings = Pick<CommandContext, 'env' | 'script'>;

/**
 * Finds what a command talks to, the same for all commands:
 *
 *   1. its flags, `--kubeconfig` before `--root-dir`
 *   2. $NODEWARD_ROOT_DIR; for a command that asks an API server, $KUBECONFIG after it
 *   3. `.nodeward` of the checkout that the program runs from, where `scripts/up` keeps its data
 *   4. the folder of an installed agent: what its agent.env says, else /var/lib/nodeward
 *
 * Throws an ExitError when $KUBECONFIG names no file that exists.
 */
export function findPlace(wanted: Wanted, { env, script }: Surroundings): Place {
  const { rootDir, kubeconfig, usesServer = false } = wanted;
  if (kubeconfig !== undefined) return { kind: 'kubeconfig', path: kubeconfig, origin: 'of --kubeconfig' };
  if (rootDir !== undefined) return toRootDir(rootDir, 'of --root-dir');
  const fromVariable = env['NODEWARD_ROOT_DIR'];
  if (fromVariable) return toRootDir(resolve(fromVariable), '$NODEWARD_ROOT_DIR');
  if (usesServer && env['KUBECONFIG']) return findKubeconfig(env['KUBECONFIG']);
  const checkout = findCheckout(script);
  const ofCheckout = checkout && join(checkout, '.nodeward');
  if (ofCheckout !== undefined && existsSync(ofCheckout)) return toRootDir(ofCheckout, 'of this checkout');
  return toRootDir(findInstalledRootDir(env), 'of an installed agent');
}

const toRootDir = (path: string, origin: string): Place => ({ kind: 'rootDir', path, origin });

/** The checkout that the program runs from, built or as source; undefined for an installed program. */
export function findCheckout(script: string): string | undefined {
  const folder = dirname(dirname(script));
  return existsSync(join(folder, 'scripts/up')) ? folder : undefined;
}

/** $KUBECONFIG may be a list; kubectl merges its files, this takes the first that exists. */
function findKubeconfig(list: string): Place {
  const paths = list.split(delimiter).filter((path) => path !== '');
  const path = paths.find((each) => existsSync(each));
  if (path !== undefined) return { kind: 'kubeconfig', path: resolve(path), origin: '$KUBECONFIG' };
  throw new ExitError(
    exitCodes.configuration,
    `$KUBECONFIG names no file that exists (${list}): correct it, or name the agent's folder with --root-dir`,
  );
}
