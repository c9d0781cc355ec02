import { Readable } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';
import type { Counts } from './counts.ts';

/** Counts tests by the events of node:test. A suite is counted only when it is skipped, with all that is in it, or fails by itself. */
export class Tally {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  get counts(): Counts {
    return { passed: this.#passed, failed: this.#failed, skipped: this.#skipped };
  }

  get total(): number {
    return this.#passed + this.#failed + this.#skipped;
  }

  add(event: TestEvent): void {
    if (event.type === 'test:pass' && event.data.details.type !== 'suite') {
      if (isSkipped(event.data)) this.#skipped += 1;
      else this.#passed += 1;
    } else if (event.type === 'test:pass' && isSet(event.data.skip)) this.#skipped += 1;
    if (event.type !== 'test:fail') return;
    const { type, error } = event.data.details;
    if (type === 'suite' && isSubtestsFailure(error)) return;
    if (isSkipped(event.data)) this.#skipped += 1;
    else this.#failed += 1;
  }
}

/** A test that is to be done counts as skipped, also when it fails. */
function isSkipped(test: { skip?: string | boolean; todo?: string | boolean }): boolean {
  return isSet(test.skip) || isSet(test.todo);
}

/** node:test passes on an empty reason, too. */
const isSet = (value: string | boolean | undefined): boolean => value !== undefined && value !== false;

/** A suite that fails only because of a test in it, which is counted already. */
function isSubtestsFailure(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed';
}

const figures = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** Node's report of the tests as text. Its figures of each process are left out: the run's own come at its end. */
export async function* reportText(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const withoutFigures = async function* (): AsyncGenerator<TestEvent> {
    for await (const event of events) {
      if (event.type !== 'test:diagnostic' || !figures.test(event.data.message)) yield event;
    }
  };
  for await (const text of Readable.from(withoutFigures()).pipe(new spec())) yield String(text);
}
