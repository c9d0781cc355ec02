/** A block of a page between two lines of three backquotes. */
export interface PageBlock {
  /** The line of the page on which its text begins, from 1. */
  line: number;
  /** What follows the first backquotes: `sh` for commands, nothing for what they print. */
  language: string;
  text: string;
}

const fence = '```';

/** All blocks of a page, in their order. Throws for one without an end. */
export function blocksOf(page: string): PageBlock[] {
  const lines = page.split('\n');
  const blocks: PageBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (!line.startsWith(fence)) continue;
    const end = lines.indexOf(fence, at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    blocks.push({
      line: at + 2,
      language: line.slice(fence.length),
      text: lines.slice(at + 1, end).join('\n'),
    });
    at = end;
  }
  return blocks;
}

const mark = '<!-- run -->';

/** The blocks of commands in a page that follow the mark `<!-- run -->`, in their order. Throws for a mark without one. */
export function runnableBlocks(page: string): PageBlock[] {
  const lines = page.split('\n');
  const blocks = new Map(blocksOf(page).map((block) => [block.line, block]));
  return lines.flatMap((line, at) => {
    if (line.trim() !== mark) return [];
    const block = blocks.get(at + 3);
    if (block?.language !== 'sh') throw new Error(`line ${at + 1}: no block of commands follows ${mark}`);
    return [block];
  });
}

/**
 * What a page shows of an output, and an output, in a form in which they are equal when they differ only in what differs from
 * machine to machine: addresses, times, the home folder of `me`, and the state of the runtime.
 */
export function shapeOf(output: string): string {
  return output
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b\d{1,3}(\.\d{1,3}){3}\b/g, 'ADDRESS')
    .replace(/\/(home\/me|root)\/nodeward\b/g, 'CHECKOUT')
    .replace(/\b\d+s$/gm, 'AGE')
    .replace(/^( {2}runtime +).*$/gm, '$1STATE')
    .trim();
}
