import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageBlock } from '../../support/page-commands.ts';
import { blocksOf, shapeOf } from '../../support/page-commands.ts';
import { repository } from '../lab/index.ts';
import type { Deviation } from './deviations.ts';
import { deviations } from './deviations.ts';
import type { Foreground, FreshMachine } from './fresh-machine.ts';

export const readPage = (page: string): Promise<string> => readFile(join(repository, page), 'utf8');

/** The deviations of a page that are for a block: at most one. */
export function deviationsOf(page: string, block: PageBlock): Deviation[] {
  return Object.entries(deviations[page] ?? {}).flatMap(([beginning, deviation]) =>
    block.text.startsWith(beginning) ? [deviation] : [],
  );
}

/** A person who pastes the blocks of one page, one after the other. Throws, with the place, at the first that does not work. */
export class PageStory {
  readonly #page: string;
  readonly #machine: FreshMachine;
  #foreground: Foreground | undefined;
  #output = '';

  constructor(page: string, machine: FreshMachine) {
    this.#page = page;
    this.#machine = machine;
  }

  /** Runs every block but those that are not to be run. */
  async run(): Promise<void> {
    await this.#machine.newShell();
    for (const block of blocksOf(await readPage(this.#page))) {
      const [deviation = {}] = deviationsOf(this.#page, block);
      if (deviation.notRun === undefined) await this.#at(block, () => this.#runBlock(block, deviation));
    }
    assert.equal(this.#foreground, undefined, 'nothing runs on when the page ends');
  }

  async #at(block: PageBlock, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      throw new Error(`${this.#page}:${block.line}\n${block.text}\n${String(error)}`, { cause: error });
    }
  }

  async #runBlock(block: PageBlock, deviation: Deviation): Promise<void> {
    if (block.language === '') return assertShown(block.text, this.#output);
    assert.equal(block.language, 'sh');
    if (deviation.afterCtrlC === true) await this.#pressCtrlC();
    this.#output = await this.#outputOf(this.#script(block, deviation), deviation);
    const shown = /(^# .*\n?)+$/m.exec(block.text)?.[0];
    if (deviation.writes !== undefined) assert.match(this.#output, deviation.writes);
    else if (shown !== undefined) assertShown(shown.replace(/^# /gm, ''), this.#output);
    if (deviation.after !== undefined) await succeed(this.#machine.asRoot(deviation.after));
  }

  #script({ text }: PageBlock, { words = {} }: Deviation): string {
    let script = text;
    for (const [word, other] of Object.entries(words)) script = script.replaceAll(word, other);
    return script;
  }

  async #outputOf(script: string, deviation: Deviation): Promise<string> {
    if (deviation.until === undefined) return await succeed(this.#machine.run(script));
    const foreground = await this.#machine.start(script, deviation.until);
    const output = await foreground.output();
    if (deviation.keepsRunning === true) this.#foreground = foreground;
    else await foreground.interrupt();
    return output;
  }

  async #pressCtrlC(): Promise<void> {
    assert.equal(await this.#foreground?.interrupt(), 0, await this.#foreground?.output());
    this.#foreground = undefined;
  }
}

function assertShown(shown: string, output: string): void {
  assert.ok(shapeOf(output).includes(shapeOf(shown)), `the page shows\n${shown}\nbut it wrote\n${output}`);
}

async function succeed(running: ReturnType<FreshMachine['run']>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, `ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}
