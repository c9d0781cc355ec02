/** Reads one profile and prints it, or why it cannot: `read-one.ts FOLDER PATH`. */
import { readProfile } from '../../../../../src/agent/seccomp/registry/read-profile.ts';

const [folder = '', path = ''] = process.argv.slice(2);
const found = await readProfile(folder, path, 1_000_000);
if (found.kind === 'found') process.stdout.write(found.bytes);
else process.stdout.write(found.kind === 'refused' ? found.reason : found.kind);
