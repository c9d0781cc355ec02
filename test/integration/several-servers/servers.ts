import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientOptions } from '../../../src/client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../src/client/index.ts';
import { freePort, temporaryFolder } from '../../support/index.ts';
import type { RunningApiServer } from '../nodeward/index.ts';
import { startApiServer } from '../nodeward/index.ts';

/** One of several control planes on one etcd. */
export interface Member {
  readonly name: string;
  readonly port: number;
  readonly isUp: boolean;
  /** What it has written to standard error since it was last started. */
  readonly log: string;
  /** A client of this one, as an administrator; whoever asks closes it. */
  client(options?: Partial<ClientOptions>): ApiClient;
  start(): Promise<void>;
  kill9(): Promise<void>;
  /** SIGTERM. */
  stop(): Promise<void>;
  /** It hangs: connections stay, nothing is answered. */
  freeze(): void;
  thaw(): void;
}

export interface Members extends AsyncDisposable {
  readonly all: readonly Member[];
  /** Credentials of an administrator, for any of them and for what stands in front of them. */
  readonly admin: ClientOptions;
}

/** Starts so many on one store, with the same authority. Resolves when all serve. Disposal ends them. */
export async function startMembers(count: number, args: readonly string[]): Promise<Members> {
  await using setup = new AsyncDisposableStack();
  const { path: folder } = setup.use(await temporaryFolder());
  const all: Member[] = [];
  const rootOf = (index: number) => join(folder, `server-${index}`);
  for (let index = 0; index < count; index += 1) {
    const member = memberOf(`server-${index}`, rootOf(index), await freePort(), args, () => admin);
    setup.defer(() => member.stop());
    all.push(member);
  }
  await all[0]?.start();
  const admin = clientOptionsOf(await readKubeconfig(join(rootOf(0), 'admin.kubeconfig')));
  const others = all.slice(1).map(async (member, index) => {
    const root = rootOf(index + 1);
    await mkdir(root, { mode: 0o700 });
    await cp(join(rootOf(0), 'pki'), join(root, 'pki'), { recursive: true });
    await member.start();
  });
  await Promise.all(others);
  const started = setup.move();
  return { all, admin, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

function memberOf(
  name: string,
  root: string,
  port: number,
  args: readonly string[],
  admin: () => ClientOptions,
): Member {
  let running: RunningApiServer | undefined;
  return {
    name,
    port,
    get isUp() {
      return running !== undefined && running.process.exit === undefined;
    },
    get log() {
      return running?.process.stderr ?? '';
    },
    client: (options = {}) => new ApiClient({ ...admin(), server: `https://127.0.0.1:${port}`, ...options }),
    async start() {
      running = await startApiServer(root, { port, args });
    },
    async kill9() {
      await running?.process.kill9();
    },
    async stop() {
      running?.process.signal('SIGCONT');
      await running?.process.stop();
    },
    freeze: () => running?.process.signal('SIGSTOP'),
    thaw: () => running?.process.signal('SIGCONT'),
  };
}
