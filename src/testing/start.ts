import { Writable } from 'node:stream';
import { findGateProblem, resolveGates } from '../api/index.ts';
import type { RunningApiServer } from '../apiserver/index.ts';
import { runApiServer } from '../apiserver/index.ts';
import type { Logger } from '../base/index.ts';
import { createLogger, MetricsRegistry, silentLogger, systemClock } from '../base/index.ts';
import { ServerFaults } from './faults/server-faults.ts';
import { address, openTestKeys } from './keys.ts';
import { InProcessServer } from './server.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { StartOptions, TestApiServer } from './types.ts';

/**
 * Starts a control plane in this process: the real one, over TLS, on 127.0.0.1. Resolves when it serves. The caller
 * disposes of it. Several may run at once; they share nothing. Rejects if it cannot be started, with what to correct, and
 * leaves nothing behind.
 */
export async function startApiServer(options: StartOptions = {}): Promise<TestApiServer> {
  const { storage = 'memory', port = 0, groupSuffix = 'k8s.io', clock = systemClock } = options;
  checkOptions(options);
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
      log: createTestLogger(options.log),
      keys,
      metrics: new MetricsRegistry(), // the default metrics of the process need observers that outlive the server
      wrapStore: (store) => faults.wrap(store),
      intercept: faults.intercept,
      http2: options.http2 ?? false,
      scheduler: options.scheduler === false ? false : undefined,
    },
    stopping.signal,
    started.resolve,
  );
  ended.catch(started.reject); // has no effect once it has started: then `close` rejects
  const { url } = await started.promise;
  setUp.defer(async () => {
    faults.clear(); // first, because delayed requests would delay the stop
    stopping.abort();
    await ended;
  });
  return new InProcessServer({ url, keys, faults, owned: setUp.move() });
}

/** Those that need no other process. */
const supportedStorages: readonly string[] = ['sqlite', 'memory'];

function checkOptions({ storage = 'memory', folder, featureGates = {} }: StartOptions): void {
  if (!supportedStorages.includes(storage)) {
    throw new TypeError(`storage is one of ${supportedStorages.join(', ')}, not ${JSON.stringify(storage)}`);
  }
  if (storage === 'memory' && folder !== undefined) {
    throw new TypeError("nothing is kept in memory: a folder goes with storage: 'sqlite'");
  }
  const problems = Object.entries(featureGates).flatMap(([name, on]) => findGateProblem(name, on) ?? []);
  if (problems.length > 0) throw new TypeError(problems.join('; '));
}

function createTestLogger(onLine: StartOptions['log']): Logger {
  if (onLine === undefined) return silentLogger();
  const output = new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      onLine(String(line));
      done();
    },
  });
  return createLogger({ format: 'json', level: 'debug', output });
}
