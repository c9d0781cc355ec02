import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/index.ts';
import type { LabEtcd } from '../lab/index.ts';
import type { Member, Members } from './servers.ts';

/** Something that goes wrong, and is put right. */
interface Trouble {
  readonly name: string;
  begin(): unknown;
  end(): unknown;
}

/**
 * Kills servers and troubles one member of etcd at a time, by the chance that is given, until `signal` aborts; then all
 * is put right. Answers what was done.
 */
export async function troubled(
  members: Members,
  etcd: LabEtcd,
  random: () => number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const done: string[] = [];
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);

  async function suffer(troubles: () => readonly Trouble[]): Promise<void> {
    while (!signal.aborted) {
      const all = troubles();
      const trouble = all[Math.floor(random() * all.length)];
      if (trouble === undefined) return;
      done.push(trouble.name);
      await trouble.begin();
      await pause(300 + random() * 2_500);
      await trouble.end();
      await pause(500 + random() * 1_000);
    }
  }

  await Promise.all([suffer(() => serverTroubles(members)), suffer(() => etcdTroubles(etcd))]);
  return done;
}

function serverTroubles({ all }: Members): readonly Trouble[] {
  return all.map((member) => ({
    name: `${member.name} is killed`,
    begin: () => member.kill9(),
    end: () => startedAgain(member),
  }));
}

/** One that finds no etcd that answers at its start ends, and whoever runs it starts it again, as systemd does. */
async function startedAgain(member: Member): Promise<void> {
  await waitFor(
    `${member.name} to serve`,
    async () => {
      await member.start();
      return true;
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
}

function etcdTroubles({ members }: LabEtcd): readonly Trouble[] {
  return members.flatMap((member) => [
    { name: `${member.name} is killed`, begin: () => member.kill9(), end: () => member.start() },
    { name: `${member.name} hangs`, begin: () => member.freeze(), end: () => member.thaw() },
    {
      name: `${member.name} is cut off`,
      begin: () => member.proxy.cut(),
      end: () => member.proxy.mend(),
    },
    {
      name: `${member.name} is alone`,
      begin() {
        member.peers.cut();
        member.peers.reset();
      },
      end() {
        member.peers.reset();
        member.peers.mend();
      },
    },
    { name: `${member.name} loses its connections`, begin: () => member.proxy.reset(), end: () => undefined },
    {
      name: `${member.name} is slow`,
      begin: () => Object.assign(member.proxy, { delayMs: 200 }),
      end: () => Object.assign(member.proxy, { delayMs: 0 }),
    },
  ]);
}
