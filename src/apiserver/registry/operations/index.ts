import type { Operation } from '../types.ts';
import { podBinding } from './pod-binding.ts';
import { podEviction } from './pod-eviction.ts';

/** The operations that need nothing but the stored objects. */
export const registryOperations: readonly Operation[] = [podBinding, podEviction];
