import { ControlPlaneService } from '../../../../../src/agent/identity/control-plane/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';

/** An agent's process that has nothing but its control plane: SCRIPT ROOT-DIR FLAGS… Stops on SIGTERM. */
const [script = '', rootDir = '', ...args] = process.argv.slice(2);
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const service = new ControlPlaneService({ script, args, rootDir, clock: systemClock, log: silentLogger() });
const alive = setInterval(() => undefined, 60_000);
await service.run(stop.signal, () => process.stdout.write('ready\n'));
clearInterval(alive);
