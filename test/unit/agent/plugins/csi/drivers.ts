import type { CsiDriver } from '../../../../../src/agent/plugins/csi/index.ts';

/** A driver as it is after its registration. */
export function driverOf(name: string, change: Partial<CsiDriver> = {}): CsiDriver {
  return {
    name,
    endpoint: `/run/${name}.sock`,
    socket: `/run/${name}-reg.sock`,
    version: '1.9.0',
    nodeId: `${name}-id`,
    maxVolumes: undefined,
    topology: {},
    ...change,
  };
}
