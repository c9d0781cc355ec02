import { StatusError } from '../api/index.ts';

/** What was asked for, or undefined where the answer is that it is not there (NotFound). */
export async function ifFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}
