import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SharedRevision } from '../../../../../src/apiserver/storage/etcd/shared-revision.ts';
import { WriteAnswers } from '../../../../../src/apiserver/storage/etcd/write-answers.ts';

test('writers are answered in the order of revisions, however replies and events arrive', () => {
  const order = fc.integer({ min: 2, max: 12 }).chain((count) => {
    const revisions = Array.from({ length: count }, (_, n) => n + 1);
    return fc.record({
      replies: fc.shuffledSubarray(revisions, { minLength: count, maxLength: count }),
      /** How many replies come before each event. */
      before: fc.array(fc.nat(3), { minLength: count, maxLength: count }),
    });
  });
  fc.assert(
    fc.property(order, ({ replies, before }) => {
      const answers = new WriteAnswers(0);
      const answered: number[] = [];
      const flights = new Map(replies.map((revision) => [revision, answers.begin(`k${revision}`)]));
      const rest = [...replies];
      let applied = 0;
      const reply = () => {
        const revision = rest.shift();
        const flight = flights.get(revision ?? 0);
        if (revision === undefined || flight === undefined) return;
        answers.finish(flight, revision, 0, () => {
          assert.ok(revision <= applied, 'nobody is answered before it is told');
          answered.push(revision);
        });
      };
      for (const [index, replied] of before.entries()) {
        for (let n = 0; n < replied; n++) reply();
        applied = index + 1;
        answers.eventArrived(`k${applied}`);
        answers.applied(applied);
      }
      while (rest.length > 0) reply();
      assert.deepEqual(
        answered,
        [...answered].sort((a, b) => a - b),
      );
      assert.equal(answered.length, replies.length);
    }),
  );
});

test('a write that failed holds nobody back, and an event of another writer does not count as its own', () => {
  const answers = new WriteAnswers(0);
  const answered: string[] = [];
  const [a, b] = [answers.begin('a'), answers.begin('b')];
  answers.eventArrived('a');
  answers.eventArrived('b');
  answers.applied(2);
  answers.finish(b, 2, 0, () => answered.push('b'));
  assert.equal(answered.length, 0, 'a may have been written before');
  answers.drop(a);
  assert.equal(answered.join(), 'b');
  const c = answers.begin('c');
  answers.eventArrived('c');
  answers.finish(c, 5, 0, () => answered.push('c'));
  assert.equal(answered.join(), 'b', 'its own event is still to come');
  answers.applied(5);
  assert.equal(answered.join(), 'b,c');
});

test('what is durable is not kept back for ever', () => {
  const answers = new WriteAnswers(0);
  const answered: string[] = [];
  answers.finish(answers.begin('a'), 7, 100, () => answered.push('a'));
  answers.giveUp(100);
  assert.equal(answered.length, 0);
  answers.giveUp(101);
  assert.equal(answered.join(), 'a');
});

test('one question for the newest revision serves all who came before it was sent, and nobody who came after', async () => {
  const asked: PromiseWithResolvers<number>[] = [];
  const shared = new SharedRevision(() => {
    const question = Promise.withResolvers<number>();
    asked.push(question);
    return question.promise;
  });
  const first = [shared.read(), shared.read(), shared.read()];
  await new Promise(setImmediate);
  const later = [shared.read(), shared.read()];
  await new Promise(setImmediate);
  assert.equal(asked.length, 1);
  asked[0]?.resolve(5);
  assert.deepEqual(await Promise.all(first), [5, 5, 5]);
  await new Promise(setImmediate);
  assert.equal(asked.length, 2);
  asked[1]?.reject(new Error('etcd is away'));
  for (const each of later) await assert.rejects(each, /away/);
  const again = shared.read();
  await new Promise(setImmediate);
  asked[2]?.resolve(9);
  assert.equal(await again, 9);
});
