import type { CommandPage, Flag } from './tree.ts';
import { explanationOf, listPages, nameOfPage, spellingOf, usageOf } from './tree.ts';

/** The file names and texts of the man pages: one of the program, and one for each of its commands. */
export function renderManPages(program: CommandPage, version: string): Map<string, string> {
  const pages = [program, ...program.children];
  return new Map(pages.map((page) => [`${manName(page)}.1`, renderPage(page, program, version)]));
}

const manName = ({ path }: CommandPage): string => ['nodeward', ...path].join('-');

function renderPage(page: CommandPage, program: CommandPage, version: string): string {
  const below = page.path.length === 0 ? [] : listPages(page).slice(1);
  const commands = page.path.length === 0 ? program.children : [];
  const others = page.path.length === 0 ? program.children : [program];
  const seeAlso = others.map((each) => `.BR ${escapeRoff(manName(each))} (1)`).join(',\n');
  return [
    `.TH ${manName(page).toUpperCase()} 1 "" "nodeward ${version}" "nodeward"`,
    `.SH NAME\n${escapeRoff(manName(page))} \\- ${escapeRoff(firstSentence(page.description))}`,
    `.SH SYNOPSIS\n${[page, ...below].map((each) => `.B ${escapeRoff(usageOf(each))}`).join('\n.br\n')}`,
    `.SH DESCRIPTION\n${escapeRoff(page.description)}`,
    ...(commands.length === 0 ? [] : [`.SH COMMANDS\n${commands.map(renderSummary).join('\n')}`]),
    ...renderArguments(page, '.SH'),
    ...below.flatMap((each) => [
      `.SH ${escapeRoff(nameOfPage(each)).toUpperCase()}\n${escapeRoff(each.description)}`,
      ...renderArguments(each, '.SS'),
    ]),
    `.SH EXIT STATUS\n0: done; 1: it failed, or the answer is no; 2: called wrongly; 3: a configuration or file cannot be used; 4: locked; 5: an address cannot be used; 6: something cannot be written.`,
    `.SH SEE ALSO\n${seeAlso}`,
    '',
  ].join('\n');
}

const renderSummary = (page: CommandPage): string =>
  `.TP\n.B ${escapeRoff(nameOfPage(page))}\n${escapeRoff(page.description)}`;

function renderArguments(page: CommandPage, heading: '.SH' | '.SS'): string[] {
  const operands = page.operands.map(
    ({ name, description }) => `.TP\n.I ${escapeRoff(name)}\n${escapeRoff(description)}`,
  );
  const flags = page.flags.map(renderFlag);
  const all = [...operands, ...flags];
  return all.length === 0
    ? []
    : [`${heading} ${heading === '.SH' ? 'OPTIONS' : 'Options'}\n${all.join('\n')}`];
}

const renderFlag = (flag: Flag): string =>
  `.TP\n.B ${escapeRoff(spellingOf(flag))}\n${escapeRoff(explanationOf(flag))}`;

const firstSentence = (text: string): string => text.replace(/[.;:].*$/s, '').trim();

/** No text becomes a request of roff, or a line of its own. */
function escapeRoff(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`);
  return plain.replace(/^[.']/, String.raw`\&$&`).replaceAll('…', '...').replaceAll('’', String.raw`\(aq`);
}
