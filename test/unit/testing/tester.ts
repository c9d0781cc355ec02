import type { TestApiServer } from '../../../src/testing/index.ts';
import { ApiTester } from '../apiserver/support/api-tester.ts';

/** The administrator of a server, or the user of that name, as a test speaks for them. The caller closes it. */
export async function testerOf(server: TestApiServer, user?: string): Promise<ApiTester & Disposable> {
  const { cert, key } = await server.client(user);
  const port = Number(new URL(server.url).port);
  const tester = new ApiTester({ port, ca: server.ca, pair: { cert, key } });
  return Object.assign(tester, { [Symbol.dispose]: () => tester.close() });
}
