// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** A project that was only downloaded runs no code, whichever command is typed in its folder. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { runInProcess } from './testing/run.ts';

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untrusted-')));
after(() => rmSync(scratch, { recursive: true, force: true }));

const RAN = join(scratch, 'ran');
const CONFIG_HOME = join(scratch, 'config');
process.env.XDG_CONFIG_HOME = CONFIG_HOME;
beforeEach(() => {
  rmSync(CONFIG_HOME, { recursive: true, force: true });
  delete process.env.SERVICE_TRUSTED_PLUGINS;
});

const PLUGIN = `import { writeFileSync } from 'node:fs';
import '../lib/helper.mjs';
writeFileSync(${JSON.stringify(RAN)}, '');
const open = async () => ({ get: async () => 'ada@corp-mail.io' });
export default { name: 'acme', version: '1.0.0', drivers: [{ kind: 'secrets', name: 'd', open }] };
`;
const CONFIG = 'plugins: {files: ["plugins/*.mjs"], packages: [acme-package]}\n';
const SECRETS = 'secrets: {backend: plugin, plugin: {from: plugins/acme.mjs, driver: d}}\n';

const FILES: Readonly<Record<string, string>> = {
  'service.yaml': CONFIG,
  'plugins/acme.mjs': PLUGIN,
  'lib/helper.mjs': 'export {};\n',
  'node_modules/acme-package/package.json': '{"name": "acme-package", "main": "main.mjs"}',
  'node_modules/acme-package/main.mjs': PLUGIN.replace("'acme'", "'packaged'")
    .replace("'d'", "'e'")
    .replace('../lib/', './'),
  'node_modules/acme-package/helper.mjs': 'export {};\n',
  // Commands that read it get as far as the policy.
  '.service/journal/.keep': '',
};

/** A hook that is denied by a daemon would only be slower. */
const HOOK_ALONE = { SERVICE_HOOK_DAEMON: 'off' };

let projects = 0;
function createProject(files: Readonly<Record<string, string>> = {}, parent = scratch): string {
  const dir = join(parent, `project-${++projects}`);
  for (const [name, text] of Object.entries({ ...FILES, ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

/** Runs a command in a project. Returns its exit code, its output and whether the project's code ran. */
async function run(cwd: string, args: string, stdin = '') {
  rmSync(RAN, { force: true });
  const { code, stdout, stderr } = await runInProcess(args.split(' '), { cwd, stdin, env: HOOK_ALONE });
  return { code, said: stdout + stderr, ran: existsSync(RAN) };
}

/** Commands that compile the folder's policy, and those that need no policy. */
const COMMANDS: readonly (readonly [args: string, expected: 'refuses' | 'ignores'])[] = [
  ['validate', 'refuses'],
  ['scan hello', 'refuses'],
  ['serve', 'refuses'],
  ['hook', 'refuses'],
  ['plugins list', 'refuses'],
  ['policy lint', 'refuses'],
  ['policy test', 'refuses'],
  ['policy evaluate --boundary input --data-tag secret', 'refuses'],
  ['policy explain evt_0123456789abcdef01234567', 'refuses'],
  ['skills add pci-dss --dry-run', 'refuses'],
  ['templates list', 'refuses'],
  ['templates install finance --dry-run', 'refuses'],
  ['observe agents', 'refuses'],
  ['logs', 'refuses'],
  ['approvals list', 'refuses'],
  ['cost report', 'refuses'],
  ['doctor', 'ignores'],
  ['status', 'ignores'],
  ['skills list', 'ignores'],
  ['detectors list', 'ignores'],
  ['token show operator', 'ignores'],
  ['audit verify', 'ignores'],
  ['config show', 'ignores'],
  ['plugins trust', 'ignores'],
  ['plugins trust --dry-run', 'ignores'],
];

test('no command runs untrusted plug-ins', async () => {
  const cwd = createProject();
  for (const [args, expected] of COMMANDS) {
    const { code, said, ran } = await run(
      cwd,
      args,
      args.startsWith('hook') ? '{"tool":"Bash","input":{}}' : '',
    );
    assert.equal(ran, false, args);
    if (expected === 'ignores') continue;
    assert.match(
      said,
      /has not trusted.*`customshouse plugins trust --config .*project-1\/service\.yaml`/s,
      args,
    );
    if (args.startsWith('hook')) assert.match(said, /"decision":"block"|refused/, args);
    else assert.ok(code === 1 || code === 2, `${args}: ${code}`);
  }
  assert.deepEqual([existsSync(CONFIG_HOME), COMMANDS.length], [false, 25]);
});

test('a trusted plug-in runs until one of its files changes', async () => {
  const cwd = createProject();
  const trusted = await run(cwd, 'plugins trust --yes --json');
  assert.deepEqual([trusted.code, trusted.ran], [0, false], trusted.said);
  const { files, done } = JSON.parse(trusted.said);
  assert.deepEqual([done, files.length], [true, 4]);
  const folder = join(CONFIG_HOME, 'customshouse', 'trusted-plugins');
  const [record] = readdirSync(folder);
  assert.equal(statSync(join(folder, record!)).mode & 0o777, 0o600);
  assert.deepEqual(await run(cwd, 'validate').then(({ code, ran }) => [code, ran]), [0, true]);
  for (const name of ['plugins/acme.mjs', 'lib/helper.mjs', 'node_modules/acme-package/helper.mjs']) {
    writeFileSync(join(cwd, name), `${FILES[name]}// changed\n`);
    const changed = await run(cwd, 'validate');
    assert.deepEqual([changed.code, changed.ran], [1, false], name);
    assert.match(changed.said, /has changed since this user trusted it/, name);
    assert.match((await run(cwd, 'plugins trust --dry-run')).said, /^changed /m);
    writeFileSync(join(cwd, name), FILES[name]!);
    assert.equal((await run(cwd, 'validate')).ran, true, name);
  }
  writeFileSync(join(cwd, 'plugins/second.mjs'), PLUGIN);
  assert.match((await run(cwd, 'validate')).said, /plugins\/second\.mjs.*has not trusted/);
  assert.equal((await run(createProject(), 'validate')).ran, false, 'trust is for one project');
  // A record that another user could have written proves nothing.
  rmSync(join(cwd, 'plugins/second.mjs'));
  assert.equal((await run(cwd, 'validate')).ran, true);
  writeFileSync(join(folder, record!), 'damaged');
  assert.equal((await run(cwd, 'validate')).ran, false);
});

test('a secret driver needs trust too', async () => {
  const alerts = 'alerts: {channels: [{type: paging, routing_key: "${secret:a}"}]}\n';
  const cwd = createProject({ 'service.yaml': CONFIG + SECRETS + alerts });
  const refused = await run(cwd, 'serve');
  assert.deepEqual([refused.code, refused.ran], [2, false]);
  assert.match(
    refused.said,
    /is of the plug-in `plugins\/acme\.mjs`, which is code that this user has not trusted/,
  );
  await run(cwd, 'plugins trust --yes');
  assert.equal((await run(cwd, 'validate')).ran, true);
});

test('operators trust folders and hashes outside the project', async () => {
  const cwd = createProject();
  const { files } = JSON.parse((await run(cwd, 'plugins trust --dry-run --json')).said);
  const hashes: readonly string[] = files.map(({ sha256 }: { sha256: string }) => sha256);
  const rows: readonly (readonly [value: string, runs: boolean])[] = [
    [cwd, true],
    [scratch, true],
    [`/nowhere:${cwd}`, true],
    [hashes.join(':'), true],
    [hashes.slice(1).join(':'), false],
    [`${cwd}/plugins`, false],
    [`${cwd.slice(0, -1)}`, false],
    ['.', false],
    ['', false],
  ];
  for (const [value, runs] of rows) {
    process.env.SERVICE_TRUSTED_PLUGINS = value;
    assert.equal((await run(cwd, 'validate')).ran, runs, value);
  }
  assert.equal(rows.length, 9);
});

test("plug-ins next to the user's own configuration need no record", async () => {
  const own = createProject({}, join(CONFIG_HOME, 'customshouse'));
  assert.deepEqual(await run(own, 'validate').then(({ code, ran }) => [code, ran]), [0, true]);
  // The user's configuration may name a project's file, which the project can change.
  const project = createProject();
  writeFileSync(join(own, 'service.yaml'), `plugins: {files: ["${project}/plugins/acme.mjs"]}\n`);
  assert.equal((await run(own, 'validate')).ran, false);
});
