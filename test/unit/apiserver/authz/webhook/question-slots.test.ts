import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuestionSlots } from '../../../../../src/apiserver/authz/webhook/question-slots.ts';

const never = new AbortController().signal;

test('there are so many places in all, and fewer for one; who leaves makes room', async () => {
  const places = new QuestionSlots({ maxTaken: 3, maxPerUser: 2, maxQueued: 0 });
  const take = (user: string) => places.take(user, never);
  const first = await take('jane');
  await take('jane');
  await assert.rejects(take('jane'), { message: /about user "jane"/ });
  const joes = await take('joe');
  await assert.rejects(take('ann'), { message: 'too many questions wait for it already' });
  joes[Symbol.dispose]();
  await assert.rejects(take('jane'), { message: /about user "jane"/ });
  first[Symbol.dispose]();
  await take('jane');
  await take('ann');
  await assert.rejects(take('joe'), { message: 'too many questions wait for it already' });
});

test('what is too much about one stands in line, and gets places in order', async () => {
  const places = new QuestionSlots({ maxTaken: 3, maxPerUser: 1, maxQueued: 2 });
  const entered: string[] = [];
  const enter = async (name: string) => {
    const place = await places.take('jane', never);
    entered.push(name);
    return place;
  };
  const first = await enter('first');
  const second = enter('second');
  const third = enter('third');
  await assert.rejects(places.take('jane', never), { message: /about user "jane"/ });
  assert.deepEqual(entered, ['first']);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  assert.deepEqual(entered, ['first', 'second']);
  (await third)[Symbol.dispose]();
  await places.take('jane', never); // nobody stands in line any more
});

test('who stands in line for too long gives up, and takes no place', async () => {
  const places = new QuestionSlots({ maxTaken: 2, maxPerUser: 1, maxQueued: 1 });
  const first = await places.take('jane', never);
  const given = new AbortController();
  const waiting = places.take('jane', given.signal);
  given.abort();
  await assert.rejects(waiting, { message: /about user "jane"/ });
  first[Symbol.dispose]();
  const again = await places.take('jane', never);
  again[Symbol.dispose]();
});
