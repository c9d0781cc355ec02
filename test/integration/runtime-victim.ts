/** A process that checkpoints one container and is there to be killed in the middle. */
import { createCheckpointer } from '../../src/agent/checkpoint/index.ts';
import { connectRuntime } from '../../src/agent/runtime/index.ts';
import { silentLogger } from '../../src/base/index.ts';

const [endpoint = '', rootDir = '', pod = ''] = process.argv.slice(2);
const log = silentLogger();
const runtime = connectRuntime({ endpoint, log });
const checkpointer = createCheckpointer({ runtime, nodeName: 'lab', rootDir, log });
const cancel = new AbortController().signal;
process.stdout.write('begins\n');
await checkpointer.checkpoint({ namespace: 'default', pod, container: 'main', cancel, requester: 'victim' });
process.stdout.write('done\n');
