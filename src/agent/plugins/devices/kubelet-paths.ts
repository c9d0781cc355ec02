import { join } from 'node:path';
import { isListening } from '../../../base/grpc/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';

/** Where the reference serves plugins and is served by them; plugins have these paths written into them. */
export interface KubeletPaths {
  /** `v1beta1.Registration`; the plugins' own sockets are beside it. */
  readonly registrationSocket: string;
  /** The folder that holds `plugins_registry`. */
  readonly pluginsDir: string;
  readonly podResourcesSocket: string;
}

/** `dir`: that of the reference, `/var/lib/kubelet` where nobody has moved it. */
export function kubeletPaths(dir: string): KubeletPaths {
  return {
    registrationSocket: join(dir, 'device-plugins/kubelet.sock'),
    pluginsDir: dir,
    podResourcesSocket: join(dir, 'pod-resources/kubelet.sock'),
  };
}

export interface KubeletPathsOptions {
  readonly paths: KubeletPaths;
  /** What is served there. Each runs like a service of its own, and one that fails is started again. */
  readonly parts: readonly KubeletPart[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Between two looks whether the other has gone; default 30 s. */
  readonly againMs?: number;
  /** Before a part that failed is started again; default 5 s. */
  readonly restartMs?: number;
}

export interface KubeletPart {
  readonly name: string;
  readonly run: Service['run'];
}

/**
 * Serves the reference's paths too, until the signal aborts. Where a real kubelet serves there (one of its sockets is
 * alive) nothing is touched: that is told as an error, and looked at again. `ready` is called after the first look.
 */
export function serveKubeletPaths(options: KubeletPathsOptions): Service['run'] {
  const { paths, parts, clock, log, againMs = 30_000 } = options;
  return async (signal, ready) => {
    for (let told = false; ; told = true) {
      const alive = await livingSocket(paths);
      if (alive === undefined) break;
      const message = `${alive} is served by another process, a kubelet it seems; plugins are not served at its paths until it has gone: stop it, or set deviceManager.kubeletPaths to false`;
      if (!told) log.error(message);
      ready();
      await clock.sleep(againMs, signal);
      if (signal.aborted) return;
    }
    log.info({ dir: paths.pluginsDir }, 'plugins are served at the paths of the reference too');
    const running = parts.map((part) => keepRunning(part, options, signal));
    ready();
    await Promise.all(running);
  };
}

/** The path of a socket that somebody accepts connections on. */
async function livingSocket(paths: KubeletPaths): Promise<string | undefined> {
  for (const path of [paths.registrationSocket, paths.podResourcesSocket]) {
    if (await isListening(path)) return path;
  }
  return undefined;
}

async function keepRunning(
  { name, run }: KubeletPart,
  { clock, log, restartMs = 5000 }: KubeletPathsOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await run(signal, () => undefined);
    } catch (error) {
      if (!signal.aborted)
        log.error({ err: error }, `${name} has failed and is started again: ${describeError(error)}`);
    }
    await clock.sleep(restartMs, signal);
  }
}
