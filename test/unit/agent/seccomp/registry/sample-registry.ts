import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Happening, Subject } from '../../../../../src/agent/node/events/index.ts';
import type {
  RegisteredProfile,
  SeccompRegistryOptions,
} from '../../../../../src/agent/seccomp/registry/index.ts';
import { SeccompRegistryService } from '../../../../../src/agent/seccomp/registry/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { watchFolder } from '../../../../../src/base/folder-watch/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';

/** A registry that follows a real folder with the real watch; its judge only asks for JSON with a `defaultAction`. */
export interface SampleRegistry extends AsyncDisposable {
  readonly registry: SeccompRegistryService;
  readonly folder: string;
  /** What was recorded, as `Pod a Warning SeccompProfileMissing …`. */
  readonly events: { subject: Subject; happening: Happening }[];
  /** How often something was judged. */
  readonly judged: number;
  setPods(pods: readonly Pod[]): void;
  /** Waits until the profile is at rest with this verdict, `gone` for none at all. */
  becomes(
    path: string,
    kind: 'valid' | 'invalid' | 'unreadable' | 'missing' | 'gone',
  ): Promise<RegisteredProfile | undefined>;
  stop(): Promise<void>;
}

export type SampleOptions = Partial<
  Pick<SeccompRegistryOptions, 'settleMs' | 'patienceMs' | 'recheckMs' | 'metrics' | 'limitBytes' | 'watch'>
> & {
  pods?: readonly Pod[];
  /** So many judgements fail at first. */
  failures?: number;
  maxEntries?: number;
  folder?: string;
};

export const good = '{"defaultAction": "SCMP_ACT_ALLOW"}\n';
export const other = '{"defaultAction": "SCMP_ACT_ERRNO"}\n';

export async function sampleRegistry(options: SampleOptions = {}): Promise<SampleRegistry> {
  const home = await temporaryFolder('seccomp-registry-');
  const folder = options.folder ?? join(home.path, 'seccomp');
  const { clock, log } = { clock: systemClock, log: silentLogger() };
  const { maxEntries = 10_000, pods: first = [], failures = 0, ...rest } = options;
  let pods = first;
  let podsChanged: () => void = () => undefined;
  let judged = 0;
  const events: SampleRegistry['events'] = [];
  const registry = new SeccompRegistryService({
    watch: watchFolder({ folder, depth: 8, maxEntries, settleMs: 10, rescanMs: 500, pollMs: 50, clock, log }),
    judge: (bytes) => {
      judged += 1;
      if (judged <= failures) throw new Error('short of something');
      return judge(bytes);
    },
    pods: {
      pods: () => pods,
      onChange(listener) {
        podsChanged = listener;
        return { [Symbol.dispose]: () => undefined };
      },
    },
    events: { record: (subject, happening) => void events.push({ subject, happening }) },
    nodeName: 'node-1',
    limitBytes: 100_000,
    settleMs: 40,
    patienceMs: 30_000, // a file that is empty in the middle of a write is not judged
    recheckMs: 200,
    clock,
    log,
    ...rest,
    folder,
  });
  const end = new AbortController();
  const ready = Promise.withResolvers<void>();
  const running = registry.run(end.signal, () => ready.resolve());
  await Promise.race([ready.promise, running]);
  const stop = async () => {
    end.abort();
    await running;
  };
  return {
    registry,
    folder,
    events,
    get judged() {
      return judged;
    },
    setPods(next) {
      pods = next;
      podsChanged();
    },
    becomes: (path, kind) =>
      waitFor(`${path} to be ${kind}`, () => {
        const found = registry.find(path);
        if (kind === 'gone') return found === undefined ? { found } : undefined;
        const isSo = found?.isSettling === false && found.verdict?.kind === kind;
        return isSo ? { found } : undefined;
      }).then(({ found }) => found),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await home[Symbol.asyncDispose]();
    },
  };
}

function judge(bytes: Uint8Array) {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const text = Buffer.from(bytes).toString('utf8');
  const errors = /^\{"defaultAction": "SCMP_ACT_[A-Z]+".*\}\n?$/s.test(text)
    ? []
    : [{ path: 'defaultAction', message: 'wrong' }];
  return { digest, errors, warnings: [] };
}

/** A pod whose containers name a profile each; `pod` says it for all of them. */
export function podNaming(
  name: string,
  {
    pod,
    containers = { main: undefined },
  }: { pod?: string; containers?: Record<string, string | undefined> },
): Pod {
  const contextOf = (profile: string | undefined) =>
    profile === undefined
      ? {}
      : { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: profile } } };
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: {
      ...contextOf(pod),
      containers: Object.entries(containers).map(([each, profile]) => ({
        name: each,
        ...contextOf(profile),
      })),
    },
  };
}
