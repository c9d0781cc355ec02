import { isRecord } from '../../api/index.ts';
import { harmless } from '../access/report.ts';

/** A line for each remark: `a.json: error: syscalls[0].action: …`. */
export function remarkLines(name: string, severity: 'error' | 'warning', remarks: unknown): string[] {
  const found = Array.isArray(remarks) ? remarks.filter(isRecord) : [];
  return found.map(({ path, message }) => {
    const where = typeof path === 'string' && path !== '' ? `${path}: ` : '';
    return harmless(`${name}: ${severity}: ${where}${String(message)}`).concat('\n');
  });
}
