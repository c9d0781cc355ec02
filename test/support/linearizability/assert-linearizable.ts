import assert from 'node:assert/strict';
import type { Model } from './check.ts';
import { checkHistory } from './check.ts';
import type { Operation } from './history.ts';

/** Fails, with what led there, when a history is not linearizable. Answers how many steps the proof took. */
export function assertLinearizable<State, Input, Output>(
  model: Model<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
): number {
  const verdict = checkHistory(model, operations);
  if (verdict.linearizable) return verdict.steps;
  const { partition, order, misfit } = verdict;
  assert.fail(
    [
      `${partition} is not linearizable. After`,
      ...order.slice(-12).map((operation) => `  ${shown(operation)}`),
      'there is no place for',
      `  ${shown(misfit)}`,
    ].join('\n'),
  );
}

function shown<Input, Output>({ client, input, output, calledAt, returnedAt }: Operation<Input, Output>) {
  const answer = output === undefined ? 'no answer' : JSON.stringify(output);
  return `${calledAt}…${returnedAt} client ${client}: ${JSON.stringify(input)} ⇒ ${answer}`;
}
