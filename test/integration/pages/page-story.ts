import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageBlock } from '../../support/page-commands.ts';
import { blocksOf, runnableBlocks, shapeOf } from '../../support/page-commands.ts';
import { repository } from '../lab/index.ts';
import type { Deviation } from './deviations.ts';
import { deviations } from './deviations.ts';
import type { Foreground, FreshMachine, Shell } from './fresh-machine.ts';

export const readPage = (page: string): Promise<string> => readFile(join(repository, page), 'utf8');

/** The deviations of a page that are for a block: at most one. */
export function deviationsOf(page: string, block: PageBlock): Deviation[] {
  return Object.entries(deviations[page] ?? {}).flatMap(([beginning, deviation]) =>
    block.text.startsWith(beginning) ? [deviation] : [],
  );
}

/** How an ordinary user is told that something is for root; without D-Bus, which the tree lacks, systemctl says so in its way. */
const refusal = /permission denied|access denied|cannot change permissions|connect to (system scope )?bus/i;

export interface Machines {
  /** Where a page is read. */
  here: FreshMachine;
  /** A shell of root on the one that joins, or takes over. */
  newMachine?: Shell;
}

/** A person who pastes the blocks of one page, one after the other. Throws, with the place, at the first that does not work. */
export class PageStory {
  readonly #page: string;
  readonly #here: FreshMachine;
  readonly #newMachine: Shell | undefined;
  readonly #found = new Map<string, string>();
  #foreground: Foreground | undefined;
  #output = '';

  constructor(page: string, { here, newMachine }: Machines) {
    this.#page = page;
    this.#here = here;
    this.#newMachine = newMachine;
  }

  /** Runs every block but those that are not to be run. */
  async run(): Promise<void> {
    await this.#eachBlock(blocksOf(await readPage(this.#page)), (block, deviation) =>
      this.#runBlock(block, deviation),
    );
  }

  /** Runs the marked blocks alone. */
  async runMarked(setUp: string): Promise<void> {
    await this.#here.newShell();
    await succeed(this.#here.run(setUp));
    for (const block of runnableBlocks(await readPage(this.#page)))
      await this.#at(block, () => this.#runBlock(block, {}));
  }

  /** The page says that it is for root before its first such command, which an ordinary user is refused. */
  async runUntilRefused(): Promise<void> {
    const text = await readPage(this.#page);
    await this.#here.newShell();
    for (const block of blocksOf(text)) {
      const { code, stdout, stderr } = await this.#here.run(this.#script(block, {}));
      if (code === 0) continue;
      assert.match(`${stdout}${stderr}`, refusal);
      const before = text.split('\n', block.line).join(' ');
      return assert.match(before, /(for|as) root|root \(`sudo -i`\)/, 'whom it is for');
    }
    assert.fail('nothing is refused');
  }

  async #eachBlock(
    blocks: readonly PageBlock[],
    visit: (block: PageBlock, deviation: Deviation) => Promise<void>,
  ): Promise<void> {
    for (const shell of [this.#here, this.#here.rootShell, this.#newMachine]) await shell?.newShell();
    for (const block of blocks) {
      const [deviation = {}] = deviationsOf(this.#page, block);
      if (deviation.notRun === undefined) await this.#at(block, () => visit(block, deviation));
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
    const machine = this.#shellFor(deviation);
    if (block.language === '') return assertShown(block.text, this.#output);
    if (deviation.afterCtrlC === true) await this.#pressCtrlC();
    if (deviation.before !== undefined) await succeed(machine.asRoot(deviation.before));
    if (deviation.file !== undefined) {
      await succeed(machine.asRoot(`cat >> ${deviation.file} <<'END'\n${block.text}\nEND`));
      return;
    }
    assert.equal(block.language, 'sh');
    this.#output = await this.#outputOf(this.#script(block, deviation), machine, deviation);
    const shown = /(^# .*\n?)+$/m.exec(block.text)?.[0];
    if (deviation.writes !== undefined) assert.match(this.#output, deviation.writes);
    else if (shown !== undefined) assertShown(shown.replace(/^# /gm, ''), this.#output);
    for (const [word, pattern] of Object.entries(deviation.finds ?? {})) {
      const [, found] = pattern.exec(this.#output) ?? [];
      assert.ok(found, `${pattern} in ${this.#output}`);
      this.#found.set(word, found);
    }
    if (deviation.after !== undefined) await succeed(machine.asRoot(deviation.after));
  }

  #shellFor({ onNewMachine, inRootShell }: Deviation): Shell {
    if (inRootShell === true) return this.#here.rootShell;
    if (onNewMachine !== true) return this.#here;
    assert.ok(this.#newMachine, 'there is no second machine');
    return this.#newMachine;
  }

  #script({ text }: PageBlock, { words = {} }: Deviation): string {
    let script = text;
    for (const [word, other] of [...this.#found, ...Object.entries(words)])
      script = script.replaceAll(word, other);
    return script;
  }

  async #outputOf(script: string, machine: Shell, deviation: Deviation): Promise<string> {
    if (deviation.until === undefined) {
      const { meanwhile = 'true' } = deviation;
      const [output] = await Promise.all([
        succeed(machine.run(script)),
        succeed(this.#here.asRoot(meanwhile)),
      ]);
      return output;
    }
    const foreground = await machine.start(script, deviation.until);
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

async function succeed(running: ReturnType<Shell['run']>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, `ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}
