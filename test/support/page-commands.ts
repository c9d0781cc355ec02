/** A block of commands that a page marks as one that can be run as it is. */
export interface PageBlock {
  /** The line of the page on which the commands begin, from 1. */
  line: number;
  script: string;
}

const mark = '<!-- run -->';

/** The blocks of commands in a page that follow the mark `<!-- run -->`, in their order. Throws for a mark without one. */
export function runnableBlocks(page: string): PageBlock[] {
  const lines = page.split('\n');
  const blocks: PageBlock[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() !== mark) continue;
    if (lines[at + 1] !== '```sh') throw new Error(`line ${at + 1}: no block of commands follows ${mark}`);
    const end = lines.indexOf('```', at + 2);
    if (end < 0) throw new Error(`line ${at + 2}: the block of commands has no end`);
    blocks.push({ line: at + 3, script: lines.slice(at + 2, end).join('\n') });
  }
  return blocks;
}
