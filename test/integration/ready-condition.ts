import assert from 'node:assert/strict';
import type { CommandResult } from '../support/index.ts';
import type { Kubectl } from './lab/index.ts';

/** What a command that must succeed printed. */
export async function outputOf(running: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout;
}

/** Status, reason and message of the node's condition Ready. */
export async function readyCondition(tool: Kubectl, node: string): Promise<string[]> {
  const condition = '{.status.conditions[?(@.type=="Ready")]';
  const path = `jsonpath=${condition}.status}|${condition}.reason}|${condition}.message}`;
  return (await outputOf(tool.run(['get', 'node', node, '-o', path]))).split('|');
}
