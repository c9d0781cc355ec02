import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inventory } from '../../../../../src/agent/plugins/devices/inventory.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';

test('of resources that are gone the latest are told, so that new names do not fill the Node', async () => {
  using inventory = new Inventory({ clock: systemClock, log: silentLogger(), graceMs: () => 0 });
  for (let index = 0; index < 300; index += 1) inventory.remembered(`vendor.example/r${index}`, ['a']);

  await waitFor('the end of every grace', () => inventory.resources().size === 0);

  assert.equal(inventory.gone().size, 256);
  assert.ok(inventory.gone().has('vendor.example/r299'));
});
