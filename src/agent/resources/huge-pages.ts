import { billionths } from '../../api/index.ts';
import { wholeOf } from './cpu-share.ts';

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
const prefix = 'hugepages-';

/** The size of a huge page as the kernel's hugetlb files write it: `2MB`. */
export function formatPageSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value}${units[unit]}`;
}

/** Bytes by the size of the page, of resources such as `hugepages-2Mi`. */
export function pagesOf(amounts: Iterable<readonly [name: string, amount: bigint]>): Map<string, number> {
  const found = new Map<string, number>();
  for (const [name, amount] of amounts) {
    if (!name.startsWith(prefix)) continue;
    const bytes = wholeOf(billionths(name.slice(prefix.length)));
    if (bytes > 0) found.set(formatPageSize(bytes), wholeOf(amount));
  }
  return found;
}
