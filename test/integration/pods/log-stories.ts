import assert from 'node:assert/strict';
import { readdir, readlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { waitFor } from '../../support/index.ts';
import { fetched, kubectl } from '../lab/index.ts';
import { uidOf } from './conditions.ts';
import { ending, script, sharedVolume, sleeper } from './containers.ts';
import type { PodNode } from './pod-node.ts';

/** What `kubectl logs` shows of pods, by each kubectl. */
const programs = ['kubectl-1.20/bin/kubectl', 'kubectl-1.32/bin/kubectl', 'tools/bin/kubectl'];

type Lab = Pick<PodNode, 'agent' | 'rootDir' | 'run' | 'delete' | 'pods'>;

function runners(lab: Lab) {
  const { kubeconfig = '' } = lab.agent.summary;
  return programs.map((path) => {
    const program = kubectl(kubeconfig, dirname(lab.rootDir), fetched(path));
    return {
      start: (...argv: string[]) => program.start(['logs', ...argv]),
      async logs(...argv: string[]): Promise<string> {
        const { code, stdout, stderr } = await program.run(['logs', ...argv]);
        return code === 0 ? stdout : `${path}: ${stderr}`;
      },
      fails: async (...argv: string[]) => (await program.run(['logs', ...argv])).stderr,
    };
  });
}

/** Of containers that run, have ended, and have been started again. */
export async function showsLogs(lab: Lab): Promise<void> {
  const main = script(
    'main',
    'echo one; echo two >&2; sleep 1; i=0; while [ $i -lt 98 ]; do i=$((i+1)); echo "line $i"; done; sleep 3600',
  );
  await lab.run('talks', {
    initContainers: [script('first', 'printf "no end of line"')],
    containers: [
      main,
      ending(0, {
        name: 'again',
        command: ['/bin/sh', '-c', 'echo "run of $(cat /proc/uptime)"; sleep 1; exit 1'],
      }),
    ],
  });
  for (const { logs, fails } of runners(lab)) {
    await waitFor(
      'the last line',
      async () => (await logs('talks', '-c', 'main', '--tail=1')) === 'line 98\n',
    );
    const all = await logs('talks', '-c', 'main');
    assert.equal(all.split('\n').length, 101);
    assert.deepEqual(all.split('\n').slice(0, 2).sort(), ['one', 'two']);
    assert.equal(await logs('talks', '-c', 'first'), 'no end of line');
    assert.match(
      await logs('talks', '-c', 'main', '--tail=1', '--timestamps'),
      /^2\S+T\S+\.\d{9}\S+ line 98\n$/,
    );
    assert.equal(await logs('talks', '-c', 'main', '--limit-bytes=3'), all.slice(0, 3));
    assert.equal(await logs('talks', '-c', 'main', '--since-time=2100-01-01T00:00:00Z'), '');
    assert.equal(await logs('talks', '-c', 'main', '--since=1h'), all);
    const previous = await waitFor('one before the last', async () => {
      const text = await logs('talks', '-c', 'again', '--previous');
      return text.startsWith('run of ') && text;
    });
    assert.match(previous, /^run of \S+ \S+\n$/);
    assert.match(await fails('talks', '-c', 'none'), /container none is not valid for pod talks/);
    assert.match(
      await fails('talks', '-c', 'main', '--previous'),
      /previous terminated container "main" in pod "talks" not found/,
    );
    assert.match(await fails('nobody'), /pods "nobody" not found/);
    const everything = await logs('talks', '--all-containers');
    assert.match(everything, /no end of line/);
    assert.match(everything, /line 98/);
  }
  await lab.delete('talks', 0);
}

/** Of a container that cannot start, why; of one that ended, what it said. */
export async function tellsWhyNoLog(lab: Lab): Promise<void> {
  await lab.run('lacks', {
    containers: [sleeper('main', { image: '127.0.0.1:1/none:1', imagePullPolicy: 'Always' })],
  });
  await lab.run('said', { restartPolicy: 'Never', containers: [script('main', 'echo last words; exit 3')] });
  for (const { logs, fails } of runners(lab)) {
    await waitFor('why', async () =>
      /waiting to start: (trying and failing to pull image|image can't be pulled)/.test(await fails('lacks')),
    );
    await waitFor('what it said', async () => (await logs('said')) === 'last words\n');
    assert.equal(await logs('said', '-f'), 'last words\n');
  }
  await lab.delete('lacks', 0);
  await lab.delete('said', 0);
}

/** Followed until the container ends, by each; those that are killed leave nothing behind at the agent. */
export async function followsLogs(lab: Lab): Promise<void> {
  const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
  const waits = 'echo begin; while [ ! -e /shared/end ]; do sleep 0.1; done; echo end';
  const pod = await lab.run('follow', {
    restartPolicy: 'Never',
    volumes: sharedVolume,
    containers: [script('main', waits, { volumeMounts }), sleeper('quiet')],
  });
  const all = runners(lab);
  await waitFor('the begin', async () => (await all[0]?.logs('follow', '-c', 'main')) === 'begin\n');
  const before = await countOpen('default_follow_');
  await using stack = new AsyncDisposableStack();
  const start = async (container: string) =>
    await Promise.all(all.map(async (each) => stack.use(await each.start('follow', '-c', container, '-f'))));
  const followers = await start('main');
  const quiet = await start('quiet');
  for (const each of followers) await waitFor('the begin', () => each.stdout === 'begin\n');
  for (const each of quiet) await each.kill9();
  await writeFile(join(lab.rootDir, 'pods', uidOf(pod), 'volumes/kubernetes.io~empty-dir/shared/end'), '');
  for (const each of followers) {
    assert.equal((await each.exited).code, 0, each.stderr);
    assert.equal(each.stdout, 'begin\nend\n');
  }
  await waitFor('all to be closed', async () => (await countOpen('default_follow_')) <= before);
  await lab.delete('follow', 0);
}

/** The descriptors, of all processes, of what has `word` in its path. */
async function countOpen(word: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const targets = await Promise.all(
    pids.map(async (pid) => {
      const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
      return await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
    }),
  );
  return targets.flat().filter((target) => target.includes(word)).length;
}
