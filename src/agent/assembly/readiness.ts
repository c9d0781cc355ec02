import type { Clock, Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import type { Identity } from '../identity/index.ts';
import { withoutRequestNames } from '../identity/index.ts';
import type { ServingFiles } from '../server/index.ts';
import type { ServiceManager } from './service-manager.ts';

export interface ReadinessOptions {
  /** Without `api` where there is no control plane. */
  readonly credentials: Pick<Identity, 'waitsFor'> & { readonly api?: Identity['api'] };
  /** Undefined where the agent serves nothing. */
  readonly serving: ServingFiles['serving'] | undefined;
  readonly manager: Pick<ServiceManager, 'waiting'>;
  /** Called with what is waited for, each time that this is something else; another request for the same certificate is not. */
  onWaiting(what: string): void;
  readonly dependsOn: readonly string[];
  readonly clock: Clock;
}

/** So often it is looked what is waited for; what lasts for a shorter time is not reported. */
const lookMs = 1000;

/**
 * The service `readiness`, on which none depends: ready once this node has credentials of its own and its HTTPS server can
 * complete handshakes. What an earlier run has obtained is good: no peer needs to be reachable then. Until a first
 * certificate is signed it reports what that waits for.
 */
export function readiness(options: ReadinessOptions): Service {
  const { credentials, serving, manager, clock } = options;
  const sources = [credentials.api, serving].filter((source) => source !== undefined);
  const isComplete = () => sources.every(({ value }) => value !== undefined);

  async function reportUntilComplete(signal: AbortSignal): Promise<void> {
    const complete = new AbortController();
    const awake = AbortSignal.any([signal, complete.signal]);
    void Promise.all(sources.map((source) => source.get())).then(() => complete.abort());
    let reported: string | undefined;
    await clock.sleep(lookMs, awake);
    while (!awake.aborted) {
      const what = credentials.waitsFor?.() ?? 'its certificates have been asked for';
      manager.waiting(what);
      const subject = withoutRequestNames(what);
      if (subject !== reported) options.onWaiting(what);
      reported = subject;
      await clock.sleep(lookMs, awake);
    }
  }

  return {
    name: 'readiness',
    dependsOn: options.dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      if (!isComplete()) await reportUntilComplete(signal);
      if (signal.aborted) return;
      ready();
      await untilAborted(signal);
    },
  };
}
