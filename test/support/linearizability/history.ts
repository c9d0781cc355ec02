/** One request and its answer. Times are places in the order of what the recorder saw: no clock is asked. */
export interface Operation<Input, Output> {
  readonly client: number;
  readonly input: Input;
  /** Undefined: no answer came. It took place at some time after the call, or not at all. */
  readonly output: Output | undefined;
  readonly calledAt: number;
  /** Infinity without an answer. */
  readonly returnedAt: number;
}

/** An answer; or `unknown`: it may have had its effect or may have it yet; or `never`: it had none. */
export type Answer<Output> = { readonly output: Output } | 'unknown' | 'never';

/** Writes down what concurrent clients ask and are answered, in the order in which this process sees it. */
export class HistoryRecorder<Input, Output> {
  readonly #operations: Operation<Input, Output>[] = [];
  #time = 0;
  #running = 0;

  /** Every operation that has ended, but those that had no effect for sure. */
  get operations(): readonly Operation<Input, Output>[] {
    if (this.#running > 0) throw new Error(`${this.#running} operations have not ended`);
    return this.#operations;
  }

  /** Performs an operation between its call and its return. Answers what it answered; undefined: nothing. */
  async record(
    client: number,
    input: Input,
    perform: () => Promise<Answer<Output>>,
  ): Promise<Output | undefined> {
    const [output] = await this.recordAtOnce(client, [input], async () => {
      const answer = await perform();
      return typeof answer === 'string' ? answer : { output: [answer.output] };
    });
    return output;
  }

  /** The same for several operations that are one request, such as the reads of a list; the answers in their order. */
  async recordAtOnce(
    client: number,
    inputs: readonly Input[],
    perform: () => Promise<Answer<readonly Output[]>>,
  ): Promise<readonly Output[]> {
    const calledAt = this.#time++;
    this.#running++;
    const answer = await perform().finally(() => this.#running--);
    const returnedAt = this.#time++;
    if (answer === 'never') return [];
    const isKnown = answer !== 'unknown';
    for (const [index, input] of inputs.entries()) {
      const output = isKnown ? answer.output[index] : undefined;
      if (isKnown && output === undefined) throw new TypeError('fewer answers than operations');
      this.#operations.push({
        client,
        input,
        output,
        calledAt,
        returnedAt: isKnown ? returnedAt : Number.POSITIVE_INFINITY,
      });
    }
    return isKnown ? answer.output : [];
  }
}
