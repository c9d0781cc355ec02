import type { CommandPage } from './tree.ts';
import { explanationOf, listPages, nameOfPage, spellingOf, usageOf } from './tree.ts';

const head = `# All commands

<!-- made by scripts/generate.ts from the commands themselves: change those -->

Every command and flag, as \`--help\` and the man pages have them. What is the same everywhere:

| | |
|---|---|
| \`-o table\`, \`-o wide\` | a list for people, with the usual columns or with all. Without rows: \`No resources found\` on standard error |
| \`-o text\` | an explanation or a report for people. Where there is no list, \`table\` and \`wide\` mean it too |
| \`-o json\`, \`-o yaml\` | one document for programs, whose fields stay |
| \`-o name\` | one name a line: what other commands take as their argument |
| a checkpoint | its id, the beginning of one, \`latest\`, \`POD/CONTAINER\` or \`NAMESPACE/POD/CONTAINER\` for the newest of it; \`-n\` for the namespace |
| a subject | \`NAME\` or \`User/NAME\`, \`Group/NAME\`, \`ServiceAccount/NAMESPACE/NAME\` or \`system:serviceaccount:NAMESPACE:NAME\` |
| \`--output-file FILE\` | where a command writes a file |
| colour, progress | only on a terminal; no colour where \`NO_COLOR\` is set |

\`nodeward completion bash|zsh|fish\` prints what completes all of this in a shell.
`;

/** docs/commands.md */
export function renderMarkdown(program: CommandPage): string {
  const pages = listPages(program).slice(1);
  return `${head}\n${pages.map(renderPage).join('\n')}`;
}

function renderPage(page: CommandPage): string {
  const rows = [
    ...page.operands.map(({ name, description }) => [name, description] as const),
    ...page.flags.map((flag) => [spellingOf(flag), explanationOf(flag)] as const),
  ];
  const lines = rows.map(([name, text]) => `| \`${escapeCell(name)}\` | ${escapeText(text)} |\n`);
  const table = lines.length === 0 ? '' : `\n| argument or flag | |\n|---|---|\n${lines.join('')}`;
  const title = `${'#'.repeat(page.path.length + 1)} ${nameOfPage(page)}`;
  return `${title}\n${escapeText(page.description)}\n\n\`${usageOf(page)}\`\n${table}`;
}

const escapeCell = (text: string): string => text.replaceAll('|', String.raw`\|`);
const escapeText = (text: string): string => escapeCell(text).replaceAll(/[<>*_]/g, String.raw`\$&`);
