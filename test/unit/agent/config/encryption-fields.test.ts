import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createKeyPair } from '../../../../src/agent/checkpoint/index.ts';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function load(section: string) {
  await using folder = await temporaryFolder();
  const config = join(folder.path, 'config.yaml');
  await writeFile(config, `${head}checkpoint:\n  encryption: ${section}\n`);
  return { folder: folder.path, ...(await loadConfig({ config, flags: {} })).config.checkpoint.encryption };
}

describe('the section checkpoint.encryption', () => {
  test('names recipients, and a file of them that counts from the configuration’s folder', async () => {
    const [one, other] = [await createKeyPair(), await createKeyPair()];
    const both = `{recipients: [${one.recipient}, ${other.recipient}], recipientsFile: keys/recipients}`;
    const { folder, recipients, recipientsFile } = await load(both);
    assert.deepEqual(recipients, [one.recipient, other.recipient]);
    assert.equal(recipientsFile, join(folder, 'keys/recipients'));
    assert.equal((await load('{recipientsFile: /etc/recipients}')).recipientsFile, '/etc/recipients');
  });

  test('is refused with the place of what is mistyped', async () => {
    const { recipient, identity } = await createKeyPair();
    await assert.rejects(load(`{recipients: [${recipient}, age1nobody]}`), {
      message:
        /config\.yaml:4.*: checkpoint\.encryption\.recipients: \[1\]: "age1nobody" is no X25519 recipient/,
    });
    const secret = load(`{recipients: [${identity}]}`);
    await assert.rejects(secret, (error: Error) => !error.message.includes(identity.slice(20)));
  });
});
