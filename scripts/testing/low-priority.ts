/**
 * Loaded into a process of tests before all else: it and what it starts compute when nobody else does. Each thread has a priority
 * of its own on Linux, and some are there already.
 */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Low enough to hold up nobody, and not so low that it stands still beside one that computes without a break. */
const priority = 10;

for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), priority);
