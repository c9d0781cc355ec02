import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Behaviour } from '../../../support/index.ts';
import { runSuccessfully } from '../../../support/index.ts';
import { calmBehaviour, pick, randomBehaviour, randomPodSpec } from '../../../support/random-pods.ts';
import type { Random } from '../../../support/repetition.ts';
import type { Container, PodSpec } from '../containers.ts';
import { script } from '../containers.ts';

/** What a container wrote down itself. */
export interface Note {
  /** `twice`: another instance of it lived. */
  readonly what: 'start' | 'term' | 'twice';
  readonly container: string;
  /** The number of its run, from 1 on. */
  readonly run: number;
  /** Seconds since the boot. */
  readonly atSeconds: number;
}

/** In-memory models think in longer times: a real one waits. */
const hurry = 8;
/** Later runs are calm. */
const plannedRuns = 6;
/** One that is started again whatever it does runs on after so many. */
const endlessRuns = 9;

/**
 * A pod of the model, for a real runtime. Its containers do what is in files of a folder of the machine, and note there when
 * they start and when they are told to stop. Two instances that live at a time are found by a named pipe: what one has
 * written into it stays as long as the kernel knows a process that holds it open.
 */
export class NotedPod {
  readonly folder: string;
  readonly spec: PodSpec;
  readonly #random: Random;

  constructor(folder: string, random: Random) {
    this.folder = folder;
    this.#random = random;
    this.spec = this.#toReal(randomPodSpec(random));
  }

  /** Writes what its containers will do. */
  async prepare(): Promise<void> {
    await mkdir(this.folder);
    const names = this.containerNames();
    await runSuccessfully(
      'mkfifo',
      names.map((name) => join(this.folder, `${name}.alive`)),
    );
    for (const name of names) {
      for (let run = 1; run <= plannedRuns; run += 1) {
        const behaviour = randomBehaviour(this.#random, name);
        await writeFile(join(this.folder, `${name}.${run}`), toLine(behaviour));
      }
    }
  }

  /** From now on containers do as they should. */
  async calm(): Promise<void> {
    await writeFile(join(this.folder, 'calm'), '');
  }

  containerNames(): string[] {
    return [...(this.spec.initContainers ?? []), ...this.spec.containers].map(({ name }) => name);
  }

  async notes(): Promise<Note[]> {
    const text = await readFile(join(this.folder, 'notes'), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => {
      const [what, container = '', run, at] = line.split(' ');
      if (what !== 'start' && what !== 'term' && what !== 'twice') return [];
      return [{ what, container, run: Number(run), atSeconds: Number(at) }];
    });
  }

  /** Without what this node does not do yet: probes; and what is created otherwise: ephemeral containers. */
  #toReal({ restartPolicy, initContainers = [], containers }: PodSpec): PodSpec {
    const real = (container: Container) => this.#container(container);
    return {
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
      initContainers: initContainers.map(real),
      containers: containers.map(real),
      hostNetwork: this.#random() < 0.4,
      terminationGracePeriodSeconds: pick(this.#random, [1, 2, 3]),
      volumes: [{ name: 'story', hostPath: { path: this.folder, type: 'Directory' } }],
    };
  }

  #container({ name, restartPolicy, restartPolicyRules }: Container): Container {
    const calm = toLine(calmBehaviour(name));
    const lifecycle = name.startsWith('init') ? undefined : this.#lifecycle(name);
    return script(name, containerScript(name, calm), {
      volumeMounts: [{ name: 'story', mountPath: '/story' }],
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
      ...(restartPolicyRules === undefined ? {} : { restartPolicyRules }),
      ...(lifecycle === undefined ? {} : { lifecycle }),
    });
  }

  /** Hooks that work, that fail, and that take longer than there is time. */
  #lifecycle(name: string): Container['lifecycle'] {
    const exec = (text: string) => ({ exec: { command: ['/bin/sh', '-c', text] } });
    const dice = this.#random();
    if (dice < 0.1) return { preStop: exec(`echo stopping ${name} >> /story/hooks`) };
    if (dice < 0.15) return { preStop: exec('exit 1') };
    if (dice < 0.2) return { preStop: exec('sleep 60') };
    if (dice < 0.25) return { postStart: exec(`echo started ${name} >> /story/hooks`) };
    if (dice < 0.3) return { postStart: exec('[ -e /story/calm ]') };
    return undefined;
  }
}

/** `exit CODE SECONDS`, or `run SECONDS-TO-OBEY`. */
function toLine({ exitAfterMs, exitCode = 0, obeysAfterMs = 0 }: Behaviour): string {
  if (exitAfterMs !== undefined) return `exit ${exitCode} ${(exitAfterMs / hurry / 1000).toFixed(2)}\n`;
  return `run ${obeysAfterMs === 'never' ? 'never' : obeysAfterMs / 1000}\n`;
}

/** Only the shell's own commands until the note is written: a container that started has noted it at once. */
function containerScript(name: string, calm: string): string {
  return `
    n=0; { read n < /story/${name}.count; } 2>/dev/null; n=$((n + 1)); echo $n > /story/${name}.count
    read up _ < /proc/uptime
    echo "start ${name} $n $up" >> /story/notes
    exec 8<>/story/${name}.alive
    if read -t 0 _ <&8; then echo "twice ${name} $n $up" >> /story/notes; fi
    echo held >&8
    how='${calm.trim()}'
    if ! [ -e /story/calm ]; then { read line < /story/${name}.$n && how=$line; } 2>/dev/null; fi
    if [ $n -gt ${endlessRuns} ]; then how='run 0'; fi
    set -- $how
    obeys=0; if [ $1 = run ]; then obeys=$2; fi
    note() { read up _ < /proc/uptime; echo "term ${name} $n $up" >> /story/notes; }
    case $obeys in
      never) trap note TERM ;;
      0) trap 'note; exit 0' TERM ;;
      *) trap "note; sleep $obeys; exit 0" TERM ;;
    esac
    if [ $1 = exit ]; then sleep $3 & wait $!; exit $2; fi
    while :; do sleep 3600 & wait $!; done`;
}
