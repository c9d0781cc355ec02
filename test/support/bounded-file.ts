/**
 * Imported by what opens stores and servers for tests: a file of tests comes to its end, whatever fails in it. A test that
 * ends in the middle leaves open what it has opened, and a store or a server that nobody closes keeps the process alive
 * for ever. So the process ends, and fails, when something keeps it alive after the last test; and when the tests
 * themselves do not come to an end.
 */
import { writeSync } from 'node:fs';
import { after } from 'node:test';

/** What may take its time to go, such as connections; on a machine that does much else, too. */
const afterwardsMs = 30_000;
/** Longer than any file of tests is given. */
const maxMs = 10 * 60_000;

// the process of several files goes on after the tests of one; the runner bounds each of them, and its end
if (process.env['NODEWARD_TEST_GROUP'] === undefined) {
  giveUpAfter(maxMs, 'its tests have not come to an end');
  after(() => giveUpAfter(afterwardsMs, 'its tests have ended, and something is still open'));
}

/** Does not keep the process alive by itself. */
function giveUpAfter(ms: number, what: string): void {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    writeSync(2, `${process.argv[1]}: after ${ms / 1000} s ${what}: ${open}\n`);
    process.exit(1);
  }, ms).unref();
}
