import { idCharacters, listIds, wordsOf } from './completion-words.ts';
import type { CommandPage, Flag } from './tree.ts';
import { listPages } from './tree.ts';

/** A line for each subcommand, flag and argument, with the command after which it is offered. */
export function fishScript(program: CommandPage): string {
  const ids = new Set(wordsOf(program).flatMap(({ path, takesIds }) => (takesIds ? [path] : [])));
  const valued = new Set(wordsOf(program).flatMap((words) => words.valued));
  return `# fish completion for nodeward; made by: nodeward completion fish
function __nodeward_at
    set -l found
    set -l skip
    for word in (commandline -opc)[2..]
        if test -n "$skip"
            set skip
        else if contains -- $word ${[...valued].join(' ')}
            set skip yes
        else if not string match -q -- '-*' $word
            if contains -- (string join ' ' $found $word) ${listPages(program)
              .slice(1)
              .map(({ path }) => quote(path.join(' ')))
              .join(' ')}
                set -a found $word
            end
        end
    end
    set -l at (string join ' ' $found)
    test "$at" = "$argv"
end

${listPages(program)
  .map((page) => linesOf(page, ids))
  .join('')}`;
}

function linesOf(page: CommandPage, ids: ReadonlySet<string>): string {
  const path = page.path.join(' ');
  const at = `complete -c nodeward -n ${quote(`__nodeward_at ${path}`)}`;
  const children = page.children.map(
    ({ path: below, description }) => `${at} -f -a ${quote(below.at(-1) ?? '')} -d ${quote(description)}\n`,
  );
  const flags = page.flags.map((flag) => `${at}${spelling(flag)} -d ${quote(flag.description)}\n`);
  const values = page.operands
    .filter(({ choices }) => choices.length > 0)
    .map(({ choices }) => `${at} -f -a ${quote(choices.join(' '))}\n`);
  const found = ids.has(path)
    ? [`${at} -a ${quote(`(${listIds} | string match -r '^[${idCharacters}]+$')`)}\n`]
    : [];
  return [...children, ...flags, ...values, ...found].join('');
}

function spelling({ short, long, value, choices }: Flag): string {
  const names = `${short === undefined ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`;
  if (!value?.startsWith('<')) return names;
  return choices.length === 0 ? `${names} -r` : `${names} -x -a ${quote(choices.join(' '))}`;
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
