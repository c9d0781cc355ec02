import type { Service } from '../../base/index.ts';
import type { Identity } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import { CsiHandler, CsiVolumeDrivers, createCsiPublisher, volumeCallMetrics } from '../plugins/csi/index.ts';
import type { DraDrivers } from '../plugins/dra/index.ts';
import { DraHandler } from '../plugins/dra/index.ts';
import type { PluginHandler } from '../plugins/index.ts';
import type { VolumeDrivers } from '../volumes/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface Drivers {
  readonly handlers: readonly PluginHandler[];
  readonly services: readonly Service[];
  /** For volumes of pods. */
  readonly volumes: VolumeDrivers;
  readonly dra: DraDrivers;
}

/** Assembles the drivers of volumes and of allocated resources, for the registry of plugins and for the start of pods. */
export function assembleDrivers(context: AgentContext, identity: Identity): Drivers {
  const { options, nodeName, metrics, stack } = context;
  const standalone = options.controlPlane.mode === 'standalone';
  const publisher = standalone
    ? undefined
    : createCsiPublisher({
        nodeName,
        api: stack.use(nodeApi(identity, 1, options.groupSuffix)),
        dependsOn: ['identity'],
        ...part(context, 'csi'),
      });
  const csi = new CsiHandler({ publisher, metrics, ...part(context, 'csi') });
  const dra = stack.use(new DraHandler({ metrics, ...part(context, 'dra') }));
  const volumes = new CsiVolumeDrivers({
    drivers: csi,
    clock: options.clock,
    metrics: volumeCallMetrics(metrics),
  });
  return { handlers: [csi, dra], services: publisher === undefined ? [] : [publisher], volumes, dra };
}
