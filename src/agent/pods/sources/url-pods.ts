import { isDeepStrictEqual } from 'node:util';
import type { Pod, YamlReader } from '../../../api/index.ts';
import { loadYamlReader } from '../../../api/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import {
  annotationOf,
  compareFullNames,
  firstObservedAnnotation,
  fullName,
  hashAnnotation,
} from '../names.ts';
import type { PodSource } from '../types.ts';
import { describeUrl, fetchManifests } from './fetch-manifests.ts';
import type { PodListeners } from './listeners.ts';
import { createListeners } from './listeners.ts';
import { withFirstObserved } from './manifest.ts';
import { judgeManifestList } from './manifest-list.ts';

export interface UrlPodsOptions {
  /** http or https. */
  readonly url: string;
  /** May hold credentials. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly intervalMs: number;
  readonly nodeName: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Default: over HTTP. */
  readonly fetch?: typeof fetchManifests;
}

const limitBytes = 10 * 1024 * 1024;

/**
 * The static pods of a URL (staticPodURL), asked for at an interval. What cannot be fetched, or has faults, changes nothing: the
 * last good pods still count, and `problem` says why.
 */
export class UrlPods implements PodSource {
  readonly #options: UrlPodsOptions;
  readonly #listeners: PodListeners;
  #pods: readonly Pod[] = [];
  #isComplete = false;
  #problem: string | undefined;
  #warnings: readonly string[] = [];

  constructor(options: UrlPodsOptions) {
    this.#options = options;
    this.#listeners = createListeners(options.log);
  }

  pods(): readonly Pod[] {
    return this.#pods;
  }

  onChange(listener: (pods: readonly Pod[]) => void): Disposable {
    return this.#listeners.add(listener);
  }

  /** Whether there was a good answer once; before, a missing pod may only not be known yet. */
  isComplete(): boolean {
    return this.#isComplete;
  }

  /** Why the last answer does not count; undefined while it does. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Of a service; ready at once, as the server need not be reachable. */
  readonly run: Service['run'] = async (signal, ready) => {
    const { clock, intervalMs } = this.#options;
    const readYaml = await loadYamlReader();
    ready();
    while (!signal.aborted) {
      await this.#update(readYaml, signal);
      await clock.sleep(intervalMs, signal);
    }
  };

  async #update(readYaml: YamlReader, signal: AbortSignal): Promise<void> {
    const { url, headers, nodeName, clock, fetch = fetchManifests } = this.#options;
    let bytes: Uint8Array;
    try {
      bytes = await fetch({ url, headers, limitBytes, clock, signal });
    } catch (error) {
      if (!signal.aborted) this.#setProblem(`cannot be fetched: ${describeError(error)}`);
      return;
    }
    if (bytes.length === 0) return this.#setProblem('cannot be used: the answer is empty');
    const judgement = judgeManifestList(bytes, { url, nodeName, readYaml });
    if ('faults' in judgement) {
      const texts = judgement.faults.map(({ field, message }) =>
        field === '' ? message : `${field}: ${message}`,
      );
      return this.#setProblem(`cannot be used: ${texts.join('; ')}`);
    }
    this.#setPods(judgement.pods, judgement.warnings);
  }

  /** Logs each problem once. */
  #setProblem(what: string): void {
    const { url, log } = this.#options;
    const problem = `the static pods of ${describeUrl(url)} ${what}`;
    const kept = this.#isComplete ? '; the last ones still count' : '';
    if (problem !== this.#problem) log.warn(`${problem}${kept}`);
    this.#problem = problem;
  }

  #setPods(judged: readonly Pod[], warnings: readonly string[]): void {
    const { url, log } = this.#options;
    const pods = judged.map((pod) => this.#withFirstObserved(pod)).sort(compareFullNames);
    const isSame = this.#isComplete && isDeepStrictEqual(pods, this.#pods);
    if (this.#problem !== undefined) log.info(`the static pods of ${describeUrl(url)} are known again`);
    if (!isDeepStrictEqual(warnings, this.#warnings)) for (const warning of warnings) log.warn(warning);
    this.#problem = undefined;
    this.#warnings = warnings;
    if (isSame) return;
    this.#pods = pods;
    this.#isComplete = true;
    log.info(`there are ${pods.length} static pods of ${describeUrl(url)}`);
    this.#listeners.notify(pods);
  }

  /** A pod that has not changed keeps the time at which it was first seen. */
  #withFirstObserved(pod: Pod): Pod {
    const before = this.#pods.find((each) => fullName(each) === fullName(pod));
    const isSame =
      before !== undefined && annotationOf(before, hashAnnotation) === annotationOf(pod, hashAnnotation);
    const time = isSame ? annotationOf(before, firstObservedAnnotation) : undefined;
    return withFirstObserved(pod, time ?? new Date(this.#options.clock.now()).toISOString());
  }
}
