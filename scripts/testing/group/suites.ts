/** Makes each test file of the group a suite, so that the hooks at its outermost level are for its own tests only. */
import { after, describe } from 'node:test';
import { isHandler, whatChanged } from './process-state.ts';

const [, ...files] = process.argv.slice(2);

// One file after the other: a module that two load at once and that awaits something would go on in the asynchronous
// context of the first, and node:test would take the tests of both for those of one suite.
for (const file of files) {
  await new Promise<void>((loaded) => {
    describe(file, () => load(file).finally(loaded));
  });
}

async function load(file: string): Promise<void> {
  await import(file);
  const byLoading = whatChanged().filter((change) => !isHandler(change));
  after(() => {
    const changes = [...byLoading, ...whatChanged()];
    if (changes.length > 0) throw new Error(`${file} left behind: ${changes.join('; ')}`);
  });
}
