import { Option } from 'commander';
import type { Architecture } from '../../agent/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';

export const architectureOption = (purpose: string) =>
  new Option('--arch <name>', `${purpose}, as SCMP_ARCH_AARCH64 or arm64 (default: this machine's)`);

/** Undefined without `--arch`. Throws an ExitError for an unknown name. */
export async function resolveArchitecture(text: string | undefined): Promise<Architecture | undefined> {
  if (text === undefined) return undefined;
  const { readArchitecture } = await import('../../agent/index.ts');
  const found = readArchitecture(text);
  if (found !== undefined) return found;
  throw new ExitError(exitCodes.usage, `${JSON.stringify(text)} is no architecture that seccomp knows`);
}
