import { Writable } from 'node:stream';
import { gateProblem, resolveGates } from '../api/index.ts';
import type { RunningApiServer } from '../apiserver/index.ts';
import { runApiServer } from '../apiserver/index.ts';
import type { Logger } from '../base/index.ts';
import { createLogger, MetricsRegistry, silentLogger, systemClock } from '../base/index.ts';
import { ServerFaults } from './faults/index.ts';
import { address, openTestKeys } from './keys.ts';
import { createTestServer } from './server.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { StartOptions, TestApiServer } from './types.ts';

/**
 * Starts a control plane in this process and resolves when it serves: the real one, over TLS, on 127.0.0.1. Whoever
 * starts it disposes of it. Several may run at once; they share nothing. Rejects where it cannot be started, with what
 * is to be mended, and leaves nothing behind then.
 */
export async function startApiServer(options: StartOptions = {}): Promise<TestApiServer> {
  const { storage = 'memory', port = 0, groupSuffix = 'k8s.io', clock = systemClock } = options;
  refuseUnknown(options);
  await using setUp = new AsyncDisposableStack();
  const folder =
    storage === 'memory' ? undefined : (options.folder ?? setUp.use(await temporaryFolder()).path);
  const keys = await openTestKeys(folder);
  const faults = new ServerFaults(clock);
  const stopping = new AbortController();
  const started = Promise.withResolvers<RunningApiServer>();
  const ended = runApiServer(
    {
      rootDir: folder ?? '',
      bindAddress: address,
      securePort: port,
      storage,
      groupSuffix,
      featureGates: resolveGates(options.featureGates ?? {}),
      clock,
      log: logTo(options.log),
      keys,
      metrics: new MetricsRegistry(), // the process's own figures need observers that outlive the server
      wrapStore: (store) => faults.wrap(store),
      intercept: faults.intercept,
      http2: options.http2 ?? false,
    },
    stopping.signal,
    started.resolve,
  );
  ended.catch(started.reject); // without effect once it has started: then closing tells
  const { url } = await started.promise;
  setUp.defer(async () => {
    faults.clear(); // first: what is held back would hold up the end
    stopping.abort();
    await ended;
  });
  return createTestServer({ url, keys, faults, owned: setUp.move() });
}

/** What needs nothing but this process. */
const ownStorages: readonly string[] = ['sqlite', 'memory'];

function refuseUnknown({ storage = 'memory', folder, featureGates = {} }: StartOptions): void {
  if (!ownStorages.includes(storage)) {
    throw new TypeError(`storage is one of ${ownStorages.join(', ')}, not ${JSON.stringify(storage)}`);
  }
  if (storage === 'memory' && folder !== undefined) {
    throw new TypeError("nothing is kept in memory: a folder goes with storage: 'sqlite'");
  }
  const problems = Object.entries(featureGates).flatMap(([name, on]) => gateProblem(name, on) ?? []);
  if (problems.length > 0) throw new TypeError(problems.join('; '));
}

function logTo(tell: StartOptions['log']): Logger {
  if (tell === undefined) return silentLogger();
  const output = new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      tell(String(line));
      done();
    },
  });
  return createLogger({ format: 'json', level: 'debug', output });
}
