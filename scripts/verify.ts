/**
 * Everything that can be checked without root and without Debian packages: format, lint, types, import
 * directions, refused words, generated files, unit and contract tests. Output and exit codes are those of run-tests.ts.
 */
import { join } from 'node:path';
import { runParts } from './testing/run.ts';

process.exitCode = await runParts(['verify', 'unit', 'contract'], { root: join(import.meta.dirname, '..') });
