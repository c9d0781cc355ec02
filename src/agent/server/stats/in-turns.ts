/** Does something for each, at most `atOnce` of them at a time; the answers in the order of the items. Rejects as the first. */
export async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  one: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers = new Map<number, R>();
  const left = items.entries();
  const work = async () => {
    for (const [index, item] of left) answers.set(index, await one(item));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return items.flatMap((_, index) => {
    const answer = answers.get(index);
    return answer === undefined ? [] : [answer];
  });
}
