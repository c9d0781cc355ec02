import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDescription, ConfigSources, FoundAgent } from '../../agent/index.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';
import type { ConfigFlags } from '../flags/config-flags.ts';
import { configSources } from '../flags/config-flags.ts';
import type { CommandContext } from '../terminal/context.ts';
import { writeWarnings } from '../terminal/output.ts';
import type { InstalledFlags } from './installed-flags.ts';
import { configurationFolder, findInstalledRootDir, readInstalledFlags } from './installed-flags.ts';

/** The agent that a command examines: the one that runs, or one that would be started like the installed one. */
interface ExaminedAgent {
  /** The one that runs. */
  running: AgentDescription | undefined;
  /** The flags of the installed agent, where it is that one and none runs. */
  installed: InstalledFlags;
  sources: ConfigSources;
  /** `/etc/nodeward/config.yaml and …, of the agent that runs (process 42)` */
  described: string;
}

/**
 * Finds from what an agent reads its configuration: the files that the flags name, else those of the agent that runs in
 * the root folder, else those of the installed agent. Flags for fields count in any case. An agent that cannot be asked is
 * a warning. `isAnswering`: whether the root folder may be touched, which blocks this process where its disk hangs.
 */
export async function findExaminedAgent(
  flags: ConfigFlags & PlaceFlags,
  context: CommandContext,
  isAnswering: (path: string) => Promise<boolean> = async () => true,
): Promise<ExaminedAgent> {
  const { findRunningAgent } = await import('../../agent/index.ts');
  const found: FoundAgent = (await isAnswering(flags.rootDir))
    ? await findRunningAgent(flags.rootDir, context.signal)
    : { fault: `${flags.rootDir} does not answer, so that an agent there cannot be asked` };
  const running = found.agent;
  const own = configSources(flags);
  if (own.config !== undefined || own.configDir !== undefined)
    return { running, installed: {}, sources: own, described: describe(own, 'of the flags') };
  if (running !== undefined) {
    const sources = withFlags(running.sources, flags);
    const described = describe(sources, `of the agent that runs (process ${running.pid})`);
    return { running, installed: {}, sources, described };
  }
  if (found.fault !== undefined) writeWarnings(context, [found.fault]);
  if (flags.rootDir !== findInstalledRootDir(context.env))
    return { running, installed: {}, sources: own, described: describe(own, '') };
  const { flags: installed, fault } = await readInstalledFlags(configurationFolder(context.env));
  if (fault !== undefined) writeWarnings(context, [fault]);
  const sources = withFlags({ ...configSources(installed), ...findInstalledFiles(context.env) }, flags);
  return { running, installed, sources, described: describe(sources, 'of the installed agent') };
}

function findInstalledFiles(env: NodeJS.ProcessEnv): Pick<ConfigSources, 'config' | 'configDir'> {
  const folder = configurationFolder(env);
  const [config, configDir] = [join(folder, 'config.yaml'), join(folder, 'config.d')];
  return { ...(existsSync(config) ? { config } : {}), ...(existsSync(configDir) ? { configDir } : {}) };
}

/** The sources of an agent, below the flags of this command. */
function withFlags(sources: ConfigSources, flags: ConfigFlags): ConfigSources {
  const own = configSources(flags);
  const given = Object.entries(own.flags).filter(([, value]) => value !== undefined);
  const choosesControlPlane =
    flags.kubeconfig !== undefined ||
    flags.bootstrapKubeconfig !== undefined ||
    flags.embeddedControlPlane !== undefined;
  return {
    ...sources,
    flags: { ...sources.flags, ...Object.fromEntries(given) },
    standalone: (choosesControlPlane ? own.standalone : sources.standalone) ?? false,
  };
}

function describe({ config, configDir }: ConfigSources, whose: string): string {
  const files = [config, configDir].filter((path) => path !== undefined);
  if (files.length > 0) return `${files.join(' and ')}, ${whose}`;
  return whose === ''
    ? 'no file, only the defaults and flags'
    : `no file, only the defaults and flags ${whose}`;
}
