import { bashScript } from './completion-bash.ts';
import { fishScript } from './completion-fish.ts';
import { zshScript } from './completion-zsh.ts';
import type { CommandPage } from './tree.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The script that completes `nodeward` in a shell. Ids of checkpoints are asked for, for at most two seconds. */
export function renderCompletion(shell: Shell, program: CommandPage): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program);
}
