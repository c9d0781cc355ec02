import type { RefusedWord } from './rules.ts';
import { publicNames, refusedWords } from './rules.ts';

export interface Finding {
  line: number;
  /** As it stands in the text. */
  found: string;
  instead: string;
}

interface Piece {
  text: string;
  index: number;
  isIdentifier: boolean;
}

// Texts between quotes are passed over: they are data, or messages that tests and clients hold to the letter.
const tokens =
  /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<identifier>[A-Za-z_$][\w$]*)/g;
const prose = /[A-Za-z]+/g;
const codeInMarkdown = /```[\s\S]*?```|`[^`\n]*`/g;

/** The refused words in a TypeScript file: in its identifiers and comments. */
export function findInSource(text: string): Finding[] {
  const pieces: Piece[] = [];
  for (const { groups = {}, index } of text.matchAll(tokens)) {
    const { comment, identifier } = groups;
    if (identifier !== undefined) pieces.push({ text: identifier, index, isIdentifier: true });
    if (comment !== undefined) pieces.push(...wordsOf(comment, index));
  }
  return findings(text, pieces);
}

/** The refused words in a page, code in it aside. */
export function findInMarkdown(text: string): Finding[] {
  return findings(text, wordsOf(text.replaceAll(codeInMarkdown, blank), 0));
}

const blank = (code: string): string => code.replaceAll(/[^\n]/g, ' ');

function wordsOf(text: string, offset: number): Piece[] {
  return [...text.matchAll(prose)].map((match) => {
    return { text: match[0], index: offset + match.index, isIdentifier: false };
  });
}

function findings(text: string, pieces: readonly Piece[]): Finding[] {
  return pieces.flatMap((piece) => {
    const rule = refusedWords.find((each) => refuses(each, piece));
    if (rule === undefined) return [];
    const line = text.slice(0, piece.index).split('\n').length;
    return [{ line, found: piece.text, instead: rule.instead }];
  });
}

function refuses({ words, where, prefix }: RefusedWord, { text, isIdentifier }: Piece): boolean {
  if (!isIdentifier) return where === 'everywhere' && words.includes(text.toLowerCase());
  if (publicNames.has(text)) return false;
  const parts = text.split(/(?<=[a-z\d])(?=[A-Z])|_/).map((part) => part.toLowerCase());
  if (prefix) return parts.length > 1 && words.includes(parts[0] ?? '');
  return parts.some((part) => words.includes(part));
}
