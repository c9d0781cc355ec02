import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodRightsCheck } from '../../../../../src/agent/doctor/checks/pod-rights.ts';
import { makeMachine } from '../machine.ts';

const root = (propagation: string) => `22 1 8:1 / / rw,relatime ${propagation} - ext4 /dev/sda1 rw\n`;

async function judge(mask: string, files: Record<string, string> = {}, user = 0) {
  await using machine = await makeMachine({
    files: {
      'proc/42/status': `Name:\tnodeward\nUid:\t${user}\t${user}\t${user}\t${user}\nCapEff:\t${mask}\n`,
      'proc/42/mountinfo': root('shared:1'),
      'proc/42/ns/mnt': '-> mnt:[7]',
      ...files,
    },
  });
  return await machine.run([createPodRightsCheck(async () => '/proc/42')], 'pod-rights');
}

const enough = '000000000020001b';

test('an agent with the rights, whose mounts are those of the machine', async () => {
  assert.equal((await judge(enough)).verdict, 'ok');
  assert.equal((await judge('000001ffffffffff')).verdict, 'ok');
});

test('an agent without rights is told which, and what gives them', async () => {
  const { verdict, found, advice } = await judge('0000000000000000');
  assert.equal(verdict, 'warning');
  assert.equal(found, 'it lacks CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_SYS_ADMIN');
  assert.match(advice ?? '', /pods\.conf/);
  assert.equal((await judge('000000000000001b')).found, 'it lacks CAP_SYS_ADMIN');
});

test('mounts of its own, unless they are those of the first process too', async () => {
  const files = { 'proc/42/mountinfo': root('shared:300 master:1') };
  assert.match((await judge(enough, files)).found, /mounts of its own/);
  assert.match((await judge(enough, { ...files, 'proc/1/ns/mnt': '-> mnt:[3]' })).found, /mounts of its own/);
  assert.equal((await judge(enough, { ...files, 'proc/1/ns/mnt': '-> mnt:[7]' })).verdict, 'ok');
});

test('an ordinary user has no pods; without an agent there is nothing to tell', async () => {
  assert.equal((await judge('0', {}, 1000)).verdict, 'not-applicable');
  assert.equal((await judge('none')).verdict, 'unknown');
  await using machine = await makeMachine();
  const check = createPodRightsCheck(async () => undefined);
  assert.equal((await machine.run([check], 'pod-rights')).verdict, 'not-applicable');
});
