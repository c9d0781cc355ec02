import type { Words } from './completion-words.ts';
import { idCharacters, listIds, wordsOf } from './completion-words.ts';
import type { CommandPage } from './tree.ts';

/** The words before the cursor are walked through to find the command; then its words are offered. */
export function bashScript(program: CommandPage): string {
  const words = wordsOf(program);
  return `# bash completion for nodeward; made by: nodeward completion bash
_nodeward_words() {
  subcommands='' flags='' valued='' values='' ids=''
  case $1 in
${words.map(wordsCase).join('')}  esac
}

_nodeward_values() {
  values=''
  case "$1:$2" in
${words.flatMap(valueCases).join('')}  esac
}

# Offers those of the words that begin with what is at the cursor; not with compgen -W, which executes $(…) in them.
_nodeward_offer() {
  local IFS=$' \\t\\n' each offered
  COMPREPLY=()
  read -ra offered <<<"$1"
  for each in "\${offered[@]}"; do
    if [[ $each == "$cursor"* ]]; then COMPREPLY+=("$each"); fi
  done
}

_nodeward_ids() {
  local id
  while IFS= read -r id; do
    if [[ $id != *[!${idCharacters}]* ]]; then values+=" $id"; fi
  done < <(${listIds})
}

_nodeward() {
  local subcommands flags valued values ids command='' word index
  local cursor=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $cursor == = ]]; then cursor=''; fi
  _nodeward_words ''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == -* ]]; then
      if [[ " $valued " == *" $word "* ]]; then ((index++)); fi
      if [[ \${COMP_WORDS[index]} == = ]]; then ((index++)); fi
    elif [[ " $subcommands " == *" $word "* ]]; then
      command=\${command:+$command }$word
      _nodeward_words "$command"
    fi
  done
  if [[ " $valued " == *" $before "* ]]; then
    _nodeward_values "$command" "$before"
    if [[ -n $values ]]; then
      _nodeward_offer "$values"
    else
      compopt -o default
    fi
  elif [[ $cursor == -* ]]; then
    _nodeward_offer "$flags"
  else
    if [[ -n $ids ]]; then _nodeward_ids; fi
    _nodeward_offer "$subcommands $values"
    if [[ -z $subcommands ]]; then compopt -o default; fi
  fi
}
complete -F _nodeward nodeward
`;
}

function wordsCase({ path, subcommands, flags, valued, values, takesIds }: Words): string {
  const sets = [
    `subcommands='${subcommands.join(' ')}'`,
    `flags='${flags.join(' ')}'`,
    `valued='${valued.join(' ')}'`,
    `values='${values.join(' ')}'`,
    `ids='${takesIds ? 'yes' : ''}'`,
  ];
  return `    '${path}') ${sets.join(' ')} ;;\n`;
}

const valueCases = ({ path, choices }: Words): string[] =>
  choices.map(
    ({ spellings, values }) =>
      `    ${spellings.map((flag) => `'${path}:${flag}'`).join(' | ')}) values='${values.join(' ')}' ;;\n`,
  );
