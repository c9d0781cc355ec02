import {
  boundedMemoryEnvironment,
  boundedMemoryFlags,
  restartBounded,
} from '../../../../src/base/bounded-memory/index.ts';

// tells what it was started with, after it has begun anew if it does
restartBounded(process, boundedMemoryFlags, boundedMemoryEnvironment);
const { pid, execArgv, argv, env } = process;
process.stdout.write(JSON.stringify({ pid, execArgv, args: argv.slice(2), arenas: env['MALLOC_ARENA_MAX'] }));
