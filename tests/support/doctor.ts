/** Machines with installed hooks for the tests of `customshouse doctor`, and runs of the command on them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after } from 'node:test';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import { formatHookCommand } from '../../src/coding-agents/record/hook-command.ts';

const service = resolve(import.meta.dirname, '../../service');
const top = mkdtempSync(join(tmpdir(), 'doctor it s-'));
after(() => rmSync(top, { recursive: true, force: true, maxRetries: 5 }));
/** A project and a home folder with spaces in their paths, which have to be quoted. */
export interface Machine {
  readonly project: string;
  readonly home: string;
}

let machineCount = 0;
export function createMachine(config = '{}\n'): Machine {
  machineCount += 1;
  const machine = {
    project: join(top, `${machineCount} project`),
    home: join(top, `${machineCount} home`),
  };
  for (const folder of [machine.project, machine.home]) mkdirSync(folder);
  writeFileSync(join(machine.project, 'service.yaml'), config);
  return machine;
}

export interface DoctorCase {
  readonly coding_agent: string;
  readonly events?: readonly string[];
  /** Changes each hook entry in the agent's file. */
  readonly entry?: (entry: Record<string, unknown>) => void;
  /** Changes the whole file. */
  readonly document?: (document: Record<string, unknown>) => void;
  readonly scope?: 'project' | 'user';
}

/** Installs hooks as setup does, with the changes of a test, and returns the file. */
export function installHooks(
  { project, home }: Machine,
  { coding_agent: name, events, entry, document, scope = 'project' }: DoctorCase,
): string {
  const { settings } = codingAgents.find((each) => each.name === name)!;
  const file = settings.targets({ project, home, env: {} }).find((place) => place.scope === scope)!.path;
  const hooks: Record<string, unknown[]> = {};
  for (const wanted of settings.wanted_hooks) {
    if (events !== undefined && !events.includes(wanted.event)) continue;
    const command = formatHookCommand({
      program: [service],
      config: join(project, 'service.yaml'),
      dialect: name,
      event: settings.needs_event ? wanted.event : null,
      guards_exit: settings.guards_exit,
    });
    const made = structuredClone(settings.hook_format.entry(wanted, command)) as Record<string, unknown>;
    const inner = Array.isArray(made.hooks) ? (made.hooks[0] as Record<string, unknown>) : made;
    entry?.(inner);
    if (inner.matcher !== undefined && inner !== made) {
      made.matcher = inner.matcher;
      delete inner.matcher;
    }
    hooks[wanted.event] = [made];
  }
  const whole = { ...settings.required_keys, hooks };
  document?.(whole);
  writeTestFile(file, JSON.stringify(whole));
  return file;
}

export function writeTestFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export interface Diagnosis {
  readonly status: string;
  readonly checks: readonly {
    readonly status: string;
    readonly name: string;
    readonly coding_agent: string | null;
    readonly event: string | null;
    readonly message: string;
    readonly next: string | null;
  }[];
  readonly sessions: readonly Record<string, unknown>[];
  readonly tried_count: number;
  readonly blocking_count: number;
}

export interface DoctorRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export async function runService(machine: Machine, words: readonly string[], stdin = ''): Promise<DoctorRun> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: machine.home, SERVICE_HOOK_DAEMON: 'off' };
  const child = spawn(service, words, { cwd: machine.project, env });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...output, code };
}

export async function diagnose(
  machine: Machine,
  ...words: readonly string[]
): Promise<Diagnosis & { readonly code: number }> {
  const { stdout, stderr, code } = await runService(machine, ['doctor', '--json', ...words]);
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Diagnosis), code: code! };
}

/** Lists the checks that do not pass: `fail hook.blocks PreToolUse`. */
export function listComplaints({ checks }: Diagnosis): string[] {
  return checks
    .filter(({ status }) => status !== 'ok')
    .map(({ status, name, event }) => `${status} ${name}${event === null ? '' : ` ${event}`}`)
    .sort();
}
