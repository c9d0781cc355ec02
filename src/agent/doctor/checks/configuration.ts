import { DeadlineError, describeError, systemClock, withDeadline } from '../../../base/index.ts';
import type { ConfigSources, EffectiveConfig } from '../../config/index.ts';
import { loadConfig } from '../../config/index.ts';
import { checkServingFiles } from '../../server/index.ts';
import type { Host } from '../host.ts';
import type { Check } from '../types.ts';
import { failed, ok, unknown, warning } from '../types.ts';

export interface ConfigView {
  /** The effective configuration of an agent; undefined where it would not start. */
  readonly config: EffectiveConfig | undefined;
  /** Whether a file or a flag states the field. */
  states(field: string): boolean;
  readonly check: Check;
}

const inspectTimeoutMs = 3000;

/** Reads the configuration as an agent with these flags would. Files on a disk that hangs are not read. */
export async function viewConfig(
  sources: ConfigSources,
  host: Host,
  signal: AbortSignal,
): Promise<ConfigView> {
  const row = {
    id: 'configuration',
    topic: 'agent',
    title: 'configuration',
    needed: 'what "nodeward config check" finds good',
  } as const;
  const limits = { clock: systemClock, timeoutMs: inspectTimeoutMs, signal };
  try {
    for (const path of [sources.config, sources.configDir])
      if (path !== undefined)
        await withDeadline(limits, path, (inner) => host.inspectPath({ path, entries: 1 }, inner));
    const { config, warnings, provenance } = await loadConfig(sources);
    await checkServingFiles(config.files);
    const finding =
      warnings.length === 0 ? ok('good') : warning(warnings.join('; '), 'correct what has no effect');
    const states = (field: string) =>
      provenance.some(({ path, origin }) => path === field && origin.kind !== 'default');
    return { config, states, check: { ...row, run: () => finding } };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeadlineError) {
      const finding = unknown(describeError(error), 'look for a disk or a mount that hangs');
      return { config: undefined, states: () => false, check: { ...row, run: () => finding } };
    }
    const problems = describeError(error).replaceAll('\n', '; ');
    const finding = failed(problems, 'correct it: nodeward config check tells all that is wrong');
    return { config: undefined, states: () => false, check: { ...row, run: () => finding } };
  }
}
