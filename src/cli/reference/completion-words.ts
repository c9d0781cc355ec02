import type { CommandPage, Flag } from './tree.ts';
import { listPages } from './tree.ts';

/** What may follow a command: everything that the scripts of all shells are made of. */
export interface Words {
  /** `checkpoint ls`; empty for the program. */
  readonly path: string;
  readonly subcommands: readonly string[];
  /** All spellings of all flags. */
  readonly flags: readonly string[];
  /** The spellings of the flags that take a value: the next word belongs to them. */
  readonly valued: readonly string[];
  /** The values of the flags that have some, by all their spellings. */
  readonly choices: readonly { readonly spellings: readonly string[]; readonly values: readonly string[] }[];
  /** The values of the arguments. */
  readonly values: readonly string[];
  /** The arguments are checkpoints. */
  readonly takesIds: boolean;
}

/** How the ids of checkpoints are found, in every shell. */
export const listIds = 'timeout 2 nodeward checkpoint ls --output name 2>/dev/null';
/** A node sends the ids: in no shell is one offered that has other characters than these of a bracket expression. */
export const idCharacters = 'A-Za-z0-9:._~-';

export function wordsOf(program: CommandPage): Words[] {
  return listPages(program).map((page) => {
    const valued = page.flags.filter(({ value }) => value?.startsWith('<'));
    return {
      path: page.path.join(' '),
      subcommands: page.children.map(({ path }) => path.at(-1) ?? ''),
      flags: [...page.flags.flatMap(spellings), '--help'],
      valued: valued.flatMap(spellings),
      choices: page.flags
        .filter(({ choices }) => choices.length > 0)
        .map((flag) => ({ spellings: spellings(flag), values: flag.choices })),
      values: page.operands.flatMap(({ choices }) => choices),
      takesIds:
        page.path[0] === 'checkpoint' && page.operands.some(({ name }) => /\bid\b|old|new/.test(name)),
    };
  });
}

const spellings = ({ short, long }: Flag): string[] => (short === undefined ? [long] : [short, long]);
