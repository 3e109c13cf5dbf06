/**
 * Counts the commands of ordinary projects that the policy pack `coding-agent` stops: the scripts of
 * `package.json`, recipes of makefiles, `RUN` of Dockerfiles, `run` of CI files and shell blocks in
 * documents, of this repository and of published packages.
 *
 *   scripts/run benchmarks/detection/ordinary-commands.ts [--lines] [--extract N]
 *
 * `--lines` prints each stopped line. `--extract N` prints about N of the lines that pass, for
 * `ordinary-commands.txt`, which a test checks. The packages are pinned below and fetched with `npm pack` and
 * `pip download` into a temporary folder.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { judge } from '../../src/core/decision/judge.ts';
import { codingAgent } from '../../src/core/policy/templates/coding-agent.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';
import { commandsIn } from './command-lines.ts';

const PACKAGES = {
  npm: [
    'express@4.21.2',
    'fastify@5.2.0',
    'vite@6.0.7',
    'webpack@5.97.1',
    'eslint@9.17.0',
    'next@15.1.3',
    'axios@1.7.9',
    'prisma@6.1.0',
    'npm@10.9.2',
    'pm2@5.4.3',
    'serverless@3.40.0',
    'typeorm@0.3.20',
  ],
  pip: ['django==5.1.4', 'flask==3.1.0', 'celery==5.4.0', 'scrapy==2.12.0', 'gunicorn==23.0.0'],
} as const;
/** Rules that stop a line intentionally, each reviewed. */
const MEANT: readonly (readonly [rules: RegExp, reason: string])[] = [
  [/^guard\./, "the service's own deciding commands and files"],
  [/^(?:generic|url|password)\./, 'a sample secret written out in a document'],
  [/^supply_chain\.publish$/, 'publishes or takes back a package'],
  [/^supply_chain\.install$/, 'installs for the whole machine, from an address or from another registry'],
  [/^execution\.(?:pipe_to_shell|fetched_text|unknown_text)$/, 'runs an installer from the network unseen'],
  [/^(?:filesystem|git)\./, 'deletes outside the working folder, a key, or forces a push'],
  [/^(?:cloud|infrastructure)\./, 'removes a deployment, a queue or tasks'],
  [/^privilege\.cluster_admin$|^credentials\.store$/, 'makes an account with rights in a cloud'],
  [/^persistence\./, 'writes to a start-up file'],
];

const { values: options } = parseArgs({
  options: { lines: { type: 'boolean', default: false }, extract: { type: 'string' } },
});

const root = join(import.meta.dirname, '../..');
const sources = [{ name: 'this repository', folder: root }, ...fetched()];
const policy = buildTestPolicy({ documents: [codingAgent.document] });
const all = new Map<string, string>();
for (const { name, folder } of sources)
  for (const line of commandsIn(folder)) if (!all.has(line)) all.set(line, name);

if (options.extract === undefined) tell();
else {
  const every = Math.max(1, Math.floor(all.size / Number(options.extract)));
  for (const line of [...all.keys()].filter((line, at) => at % every === 0 && rulesThatStop(line) === null))
    console.log(line.replaceAll('\n', '\\n'));
}

function tell(): void {
  const stopped: string[] = [];
  const unmeant: string[] = [];
  const reasons = new Map<string, number>();
  for (const [line, name] of all) {
    const rules = rulesThatStop(line);
    if (rules === null) continue;
    stopped.push(`${name}: ${line}\n    ${rules.join(', ')}`);
    const reason = MEANT.find(([pattern]) => rules.some((rule) => pattern.test(rule)))?.[1];
    if (reason === undefined) unmeant.push(stopped.at(-1)!);
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  for (const { name } of sources)
    console.log(`${name}: ${[...all.values()].filter((each) => each === name).length} commands`);
  console.log(
    `${all.size} commands, ${stopped.length} stopped, ${unmeant.length} of them for no such reason:`,
  );
  for (const [reason, count] of reasons) console.log(`  ${count}: ${reason}`);
  for (const each of unmeant) console.log(each);
  if (options.lines) for (const each of stopped) console.log(each);
}

/** Returns the rules that stop a line; `null` if it passes. */
function rulesThatStop(command: string): readonly string[] | null {
  const content = { kind: 'json', value: { command } } as const;
  const verdict = judge(
    buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'Bash', content }),
    policy,
  );
  if (verdict.decision === 'allow') return null;
  return [...new Set(verdict.findings.map(({ rule_id }) => rule_id))];
}

/** Returns the unpacked packages. */
function fetched(): readonly { readonly name: string; readonly folder: string }[] {
  const cache = join(tmpdir(), 'ordinary-commands');
  mkdirSync(cache, { recursive: true });
  const here = new Set(readdirSync(cache));
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, [...args], { cwd: cache, stdio: ['ignore', 'ignore', 'inherit'] });
  return [...PACKAGES.npm, ...PACKAGES.pip].map((name) => {
    const folder = name.replace(/@|==/, '-');
    if (!here.has(folder)) {
      const archiveHere = () =>
        readdirSync(cache).find((file) => file.toLowerCase().startsWith(`${folder}.t`));
      if (archiveHere() === undefined) {
        if (name.includes('==')) run('pip', ['download', '-q', '--no-deps', '--no-binary', ':all:', name]);
        else run('npm', ['pack', '--silent', name]);
      }
      mkdirSync(join(cache, folder));
      run('tar', ['xzf', archiveHere()!, '-C', folder, '--strip-components=1']);
    }
    return { name, folder: join(cache, folder) };
  });
}
