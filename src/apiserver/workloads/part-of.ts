/** How many a number or a percentage of `total` is; of a percentage the next whole number up or down. */
export function resolvePart(part: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (typeof part === 'number') return part;
  const percent = /^(\d+)%$/.exec(part ?? '')?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
