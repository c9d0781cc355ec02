import '../../../support/bounded-file.ts';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AskedGates } from '../../../../src/api/index.ts';
import { resolveGates } from '../../../../src/api/index.ts';
import type { ApiServerOptions, RunningApiServer } from '../../../../src/apiserver/index.ts';
import { runApiServer } from '../../../../src/apiserver/index.ts';
import type { OpenStorageOptions } from '../../../../src/apiserver/storage/index.ts';
import type { Clock, Logger } from '../../../../src/base/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import { createAuthority, issuePair, noNames } from '../../../../src/base/x509/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { ApiTester } from './api-tester.ts';

/** A control plane in this process: the real one, over TLS, with its objects in memory. */
export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly running: RunningApiServer;
  /** Of `system:masters`. */
  readonly admin: ApiTester;
  /** Somebody with a certificate of this cluster and no group. */
  readonly stranger: ApiTester;
  /** Somebody without a certificate. */
  readonly nobody: ApiTester;
  /** A node agent, with a certificate as the signer makes it. */
  node(name: string): Promise<ApiTester>;
  /** Whoever holds this key and certificate. */
  holder(pair: Pair): ApiTester;
  /** A certificate of the cluster's authority. */
  issue(wanted: Partial<Wanted>): Promise<Pair>;
  /** What the server logged, one JSON object a line. */
  logged(): string;
  /** Stops the server in order and tells how long that took. May be called twice. */
  stop(): Promise<number>;
}

export interface Wanted {
  commonName: string;
  organizations: readonly string[];
  use: 'client' | 'server';
  lifetimeMs: number;
  now: number;
}

export interface StartOptions {
  clock?: Clock;
  log?: Logger;
  /** Features that are switched other than by default. */
  gates?: AskedGates;
  http2?: boolean;
  /** Default 127.0.0.1. */
  bindAddress?: string;
  authentication?: ApiServerOptions['authentication'];
  authorization?: ApiServerOptions['authorization'];
  audit?: ApiServerOptions['audit'];
  wrapStore?: OpenStorageOptions['wrapStore'];
  /** Default false, as the next one. */
  workloadControllers?: boolean;
  defaultTolerations?: ApiServerOptions['defaultTolerations'];
  inFlight?: ApiServerOptions['inFlight'];
  /** Default false: nothing changes objects between a read and a write of the test, and only its writers own fields. */
  scheduler?: ApiServerOptions['scheduler'];
}

const hourMs = 3600_000;

/** Starts a server; stopped and removed on disposal, which fails when the server logged an unexpected failure. */
export async function startServer(options: StartOptions = {}): Promise<TestServer> {
  const folder = await temporaryFolder();
  const rootDir = join(folder.path, 'root');
  const { log, text: logged } = recordedLog('json', 'info');
  const stopping = new AbortController();
  const started = Promise.withResolvers<RunningApiServer>();
  const ended = runApiServer(
    {
      rootDir,
      groupSuffix: 'k8s.io',
      bindAddress: options.bindAddress ?? '127.0.0.1',
      securePort: 0,
      storage: 'memory',
      featureGates: resolveGates(options.gates ?? {}),
      http2: options.http2 ?? false,
      wrapStore: options.wrapStore,
      defaultTolerations: options.defaultTolerations,
      workloadControllers: options.workloadControllers ?? false,
      inFlight: options.inFlight,
      scheduler: options.scheduler ?? false,
      audit: options.audit,
      authorization: options.authorization,
      ...(options.authentication && { authentication: options.authentication }),
      clock: options.clock ?? systemClock,
      log: options.log ?? log,
    },
    stopping.signal,
    started.resolve,
  );
  ended.catch(started.reject);
  await using opening = new AsyncDisposableStack();
  opening.use(folder);
  opening.defer(() => stop().then(nothing, nothing)); // why it does not start is known then
  const running = await inTime('to start', started.promise);
  const pki = join(rootDir, 'pki');
  const authority = await readPairAt(join(pki, 'ca'));
  const port = Number(new URL(running.url).port);
  const testers: ApiTester[] = [];

  function holder(pair: Pair | undefined): ApiTester {
    const tester = new ApiTester({ port, ca: running.ca, pair });
    testers.push(tester);
    return tester;
  }

  async function issue(wanted: Partial<Wanted>): Promise<Pair> {
    const { commonName = 'somebody', organizations = [], use = 'client', lifetimeMs = hourMs } = wanted;
    const now = wanted.now ?? (options.clock ?? systemClock).now();
    return await issuePair(authority, {
      subject: { commonName, organizations },
      names: noNames,
      use,
      lifetimeMs,
      now,
    });
  }

  async function stop(): Promise<number> {
    const startedMs = performance.now();
    stopping.abort();
    await inTime('to stop', ended);
    return performance.now() - startedMs;
  }

  const admin = holder(await readPairAt(join(pki, 'admin')));
  const stranger = holder(await issue({ commonName: 'stranger' }));
  const opened = opening.move();
  return {
    port,
    running,
    admin,
    stranger,
    nobody: holder(undefined),
    holder,
    issue,
    logged,
    stop,
    node: async (name) =>
      holder(await issue({ commonName: `system:node:${name}`, organizations: ['system:nodes'] })),
    async [Symbol.asyncDispose]() {
      for (const tester of testers) tester.close();
      await stop();
      await opened.disposeAsync();
      assert.doesNotMatch(logged(), /unexpected failure/, 'nothing failed in a way that was not foreseen');
    },
  };
}

const nothing = () => undefined;

/** A server that hangs fails its test, and not only the time that all tests have together. */
async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`the server needs more than 45 s ${what}`)), 45_000);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readPairAt(path: string): Promise<Pair> {
  const [cert, key] = await Promise.all([readFile(`${path}.crt`, 'utf8'), readFile(`${path}.key`, 'utf8')]);
  return { cert, key };
}

/** A client certificate of an authority that the server does not know. */
export async function foreignMaster(): Promise<Pair> {
  const authority = await createAuthority('nodeward-ca', hourMs, Date.now());
  return await issuePair(authority, {
    subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
    names: noNames,
    use: 'client',
    lifetimeMs: hourMs,
    now: Date.now(),
  });
}

/**
 * The system's clock with a wall that stands still, `shiftMs` after its start, so that nothing expires because the
 * machine is slow. Sleepers sleep on.
 */
export function shiftedClock(): Clock & { shiftMs: number } {
  const startMs = systemClock.now();
  return {
    ...systemClock,
    shiftMs: 0,
    now() {
      return startMs + this.shiftMs;
    },
  };
}
