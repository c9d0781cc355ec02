import type { Words } from './completion-words.ts';
import { idCharacters, listIds, wordsOf } from './completion-words.ts';
import type { CommandPage } from './tree.ts';

/** The same as for bash, in the words of zsh: arrays begin at 1, and nothing is split by itself. */
export function zshScript(program: CommandPage): string {
  const words = wordsOf(program);
  return `#compdef nodeward
# zsh completion for nodeward; made by: nodeward completion zsh
_nodeward_words() {
  subcommands=() flags=() valued=() values=() ids=''
  case $1 in
${words.map(wordsCase).join('')}  esac
}

_nodeward_values() {
  values=()
  case "$1:$2" in
${words.flatMap(valueCases).join('')}  esac
}

_nodeward() {
  local -a subcommands flags valued values
  local ids='' command='' word index before=$words[CURRENT-1]
  _nodeward_words ''
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    if [[ $word == -* ]]; then
      if (( \${valued[(Ie)$word]} )); then ((index++)); fi
    elif (( \${subcommands[(Ie)$word]} )); then
      command=\${command:+$command }$word
      _nodeward_words "$command"
    fi
  done
  if [[ $PREFIX == --*=* ]]; then
    before=\${PREFIX%%=*}
    compset -P '*='
  fi
  if (( \${valued[(Ie)$before]} )); then
    _nodeward_values "$command" "$before"
    if (( $#values )); then compadd -a values; else _files; fi
  elif [[ $PREFIX == -* ]]; then
    compadd -a flags
  else
    if [[ -n $ids ]]; then values+=(\${\${(f)"$(${listIds})"}:#*[^${idCharacters}]*}); fi
    if (( $#subcommands )); then compadd -a subcommands; fi
    if (( $#values )); then compadd -a values; fi
    if (( ! $#subcommands && ! $#values )) || [[ -n $ids ]]; then _files; fi
  fi
}

if [[ $funcstack[1] == _nodeward ]]; then _nodeward "$@"; else compdef _nodeward nodeward; fi
`;
}

function wordsCase({ path, subcommands, flags, valued, values, takesIds }: Words): string {
  const sets = [
    `subcommands=(${subcommands.join(' ')})`,
    `flags=(${flags.join(' ')})`,
    `valued=(${valued.join(' ')})`,
    `values=(${values.join(' ')})`,
    `ids='${takesIds ? 'yes' : ''}'`,
  ];
  return `    ('${path}') ${sets.join(' ')} ;;\n`;
}

const valueCases = ({ path, choices }: Words): string[] =>
  choices.flatMap(({ spellings, values }) =>
    spellings.map((flag) => `    ('${path}:${flag}') values=(${values.join(' ')}) ;;\n`),
  );
