import type { Service } from '../../../../src/base/index.ts';

/** A service that does what a test tells it, step by step. */
export interface Actor {
  readonly service: Service;
  ready(): void;
  /** Makes the present run throw. */
  fail(error: unknown): void;
  /** Makes the present run return although nobody told it to. */
  leave(): void;
}

export interface ActorOptions {
  dependsOn?: readonly string[];
  onFailure?: 'stop' | 'restart';
  /** Says ready by itself as soon as it runs; default true. */
  readyAtOnce?: boolean;
  /** What cleaning up does once it is told to stop; default nothing. */
  cleanUp?: () => Promise<void>;
}

/** Services whose steps are written down: `start a`, `stop a` (told to), `end a`. */
export function stage() {
  const story: string[] = [];
  const actor = (name: string, options: ActorOptions = {}): Actor => {
    const { dependsOn = [], onFailure = 'stop', readyAtOnce = true, cleanUp } = options;
    let sayReady: (() => void) | undefined;
    let end = Promise.withResolvers<void>();
    const run: Service['run'] = async (signal, ready) => {
      story.push(`start ${name}`);
      end = Promise.withResolvers<void>();
      sayReady = ready;
      if (readyAtOnce) ready();
      const told = Promise.withResolvers<void>();
      const hear = () => told.resolve();
      signal.addEventListener('abort', hear);
      await Promise.race([told.promise, end.promise]);
      signal.removeEventListener('abort', hear);
      if (signal.aborted) {
        story.push(`stop ${name}`);
        await cleanUp?.();
      }
      story.push(`end ${name}`);
    };
    return {
      service: { name, dependsOn, onFailure, run },
      ready: () => sayReady?.(),
      fail: (error) => end.reject(error),
      leave: () => end.resolve(),
    };
  };
  return { story, actor };
}

/** Lets everything that is ready to happen happen; no time passes. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
