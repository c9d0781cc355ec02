import { join } from 'node:path';
import { isListening } from '../../../base/grpc/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';

/** The paths of the reference's sockets for plugins; plugins have these paths hard-coded. */
export interface KubeletPaths {
  /** The socket of `v1beta1.Registration`; the plugins' own sockets are beside it. */
  readonly registrationSocket: string;
  /** The folder that contains `plugins_registry`. */
  readonly pluginsDir: string;
  readonly podResourcesSocket: string;
}

/** `dir` is the reference's root folder, by default `/var/lib/kubelet`. */
export function kubeletPaths(dir: string): KubeletPaths {
  return {
    registrationSocket: join(dir, 'device-plugins/kubelet.sock'),
    pluginsDir: dir,
    podResourcesSocket: join(dir, 'pod-resources/kubelet.sock'),
  };
}

export interface KubeletPathsOptions {
  readonly paths: KubeletPaths;
  /** The parts to serve there. Each runs like a service of its own, and is started again when it fails. */
  readonly parts: readonly KubeletPart[];
  readonly clock: Clock;
  readonly log: Logger;
  /** How often it is checked whether the other kubelet has gone; default 30 s. */
  readonly againMs?: number;
  /** The wait before a failed part is started again; default 5 s. */
  readonly restartMs?: number;
}

export interface KubeletPart {
  readonly name: string;
  readonly run: Service['run'];
}

/**
 * Serves at the reference's paths too, until the signal aborts. While a real kubelet serves there (one of its sockets accepts
 * connections) nothing is touched: that is logged as an error, and checked again. `ready` is called after the first check.
 */
export function serveKubeletPaths(options: KubeletPathsOptions): Service['run'] {
  const { paths, parts, clock, log, againMs = 30_000 } = options;
  return async (signal, ready) => {
    for (let logged = false; ; logged = true) {
      const alive = await findLiveSocket(paths);
      if (alive === undefined) break;
      const message = `${alive} is served by another process, a kubelet it seems; plugins are not served at its paths until it has gone: stop it, or set deviceManager.kubeletPaths to false`;
      if (!logged) log.error(message);
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

/** Finds the path of a socket on which a process accepts connections. */
async function findLiveSocket(paths: KubeletPaths): Promise<string | undefined> {
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
