import type { Reply, Target } from './connection.ts';
import { requestBytes } from './connection.ts';
import { measure } from './load.ts';

const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

/** Where in an answer the token stands, at the latest. */
const headBytes = 1024;

/** Lists everything in pages, so many times; the time of a whole list, the median, and the server's CPU for it. */
export async function measurePages(
  target: Target,
  limit: number,
  pages: number,
  rounds: number,
): Promise<{ p50Ms: number; cpuMs: number }> {
  let token = '';
  let startedMs = performance.now();
  const tookMs: number[] = [];
  const measured = await measure(target, {
    count: pages * rounds,
    connections: 1,
    request: () =>
      requestBytes({ method: 'GET', path: `${path}?limit=${limit}${token && `&continue=${token}`}` }),
    answered(reply) {
      token = encodeURIComponent(tokenIn(reply));
      if (token !== '') return;
      tookMs.push(performance.now() - startedMs);
      startedMs = performance.now();
    },
  });
  if (tookMs.length !== rounds) throw new Error(`${pages} pages were expected for a list`);
  tookMs.sort((one, other) => one - other);
  return { p50Ms: tookMs[Math.floor(rounds / 2)] ?? 0, cpuMs: measured.cpuMs * pages };
}

export function tokenIn({ bytes, bodyAt }: Reply): string {
  const head = bytes.toString('latin1', bodyAt, bodyAt + headBytes);
  return /"continue":"([^"]+)"/.exec(head)?.[1] ?? '';
}
