/**
 * The image and the unit, run for real as far as that goes without a container engine: the image's steps in Debian roots, and the
 * unit under a systemd of its own. Needs root.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../support/checkout.ts';
import { until } from '../support/until.ts';
import { OUTER_ADDRESS, startContainer } from './support/container.ts';
import { buildImage, type Image, openDebianBase, parseInstructions } from './support/containerfile.ts';
import { buildPackageCopy } from './support/package-copy.ts';
import { DEPLOY, installForTests } from './support/programs.ts';

const FILE = join(DEPLOY, 'container/Containerfile');
const IMAGE_BYTES_MAX = 190_000_000;
const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
const skip = process.getuid?.() === 0 ? false : 'it needs root, for roots and namespaces';
const dir = mkdtempSync(join(tmpdir(), 'system-'));
/** Debian, kept between runs: debootstrap takes a minute. */
const CACHE = join(root, '.components/debian-bookworm');
let image: Image;
after(() => rmSync(dir, { recursive: true, force: true }));

before(async () => {
  if (skip !== false) return;
  installForTests('debootstrap', 'systemd-nspawn');
  const { copy } = await buildPackageCopy(join(dir, 'checkout'));
  const folder = join(dir, 'stages');
  mkdirSync(folder);
  mkdirSync(join(root, '.components'), { recursive: true });
  image = buildImage(readFileSync(FILE, 'utf8'), {
    context: copy,
    folder,
    arguments: { REVISION: 'abc' },
    makeBase: openDebianBase(CACHE),
  });
});

function openState(name: string): string {
  const state = join(dir, name);
  mkdirSync(state);
  return state;
}

const scan = (text: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text }),
});

test('the image is small, has no shell, and names its packages and its user', { skip }, (t) => {
  const bytes = Number(execFileSync('du', ['-sb', image.root], { encoding: 'utf8' }).split('\t')[0]);
  t.diagnostic(
    `image: ${Math.round(bytes / 1e6)} MB, with Node's ${Math.round(statSync(join(image.root, 'usr/bin/node')).size / 1e6)} MB`,
  );
  assert.ok(bytes <= IMAGE_BYTES_MAX, `${bytes} bytes`);
  assert.deepEqual(readdirSync(join(image.root, 'usr/bin')).sort(), ['customshouse', 'node']);
  assert.deepEqual(globSync(join(image.root, '{,usr/}{bin,sbin}/*sh')), []);
  const records = readdirSync(join(image.root, 'var/lib/dpkg/status.d'));
  assert.deepEqual(records.sort(), ['base-files', 'gcc-12-base', 'libc6', 'libgcc-s1', 'libstdc++6']);
  for (const name of records) {
    assert.match(readFileSync(join(image.root, 'var/lib/dpkg/status.d', name), 'utf8'), /^Version: /m);
    assert.ok(
      existsSync(join(image.root, 'usr/share/doc', name, 'copyright')) ||
        name === 'libstdc++6' ||
        name === 'libgcc-s1',
    );
  }
  assert.equal(image.user, '10001:10001');
  assert.deepEqual(image.ports, [8000]);
  assert.equal(image.labels['org.opencontainers.image.revision'], 'abc');
  const setuid = execFileSync('find', [image.root, '-type', 'f', '-perm', '/6000'], { encoding: 'utf8' });
  assert.equal(setuid, '');
});

test('it decides with a read-only root, asks callers from outside for a credential, and stops cleanly', {
  skip,
}, async () => {
  const container = await startContainer(image, openState('state'));
  const [inner, outer] = ['127.0.0.1', OUTER_ADDRESS].map((host) => `http://${host}:8000/v1/scan/input`);
  const blocked = container.request(inner!, scan(`Use key ${SECRET}`));
  assert.equal(JSON.parse(blocked.body).decision, 'block');
  assert.equal(container.request(outer!, scan('hello')).status, 401);
  const token = container.execute('/usr/bin/customshouse', 'token', 'show').trim();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  assert.equal(JSON.parse(container.request(outer!, { ...scan('hello'), headers }).body).decision, 'allow');
  assert.match(container.execute('/usr/bin/customshouse', 'status'), /^Service running/);
  assert.match(container.execute('/usr/bin/customshouse', 'audit', 'verify'), /^intact/);
  const write = (path: string) =>
    container.execute('/usr/bin/node', '-e', `require('node:fs').writeFileSync(${JSON.stringify(path)}, '')`);
  for (const path of ['/tmp/x', '/etc/customshouse/x', '/usr/x'])
    assert.throws(() => write(path), /EROFS/, path);
  assert.equal(await container.stop(), 0, container.logs());
  assert.match(container.logs(), /"msg":"the service has stopped"/);
  const again = await startContainer(image, join(dir, 'state'));
  assert.match(again.execute('/usr/bin/customshouse', 'audit', 'verify'), /^intact/);
  assert.equal(again.execute('/usr/bin/customshouse', 'token', 'show').trim(), token);
  assert.equal(await again.stop(), 0);
});

test('a volume that Kubernetes gives to a group holds the state too', { skip }, async () => {
  const state = openState('volume');
  const container = await startContainer(image, state, { owner: '0:10001', mode: '2775' });
  assert.match(
    container.execute('/usr/bin/customshouse', 'status'),
    /State +\/var\/lib\/customshouse\/service/,
  );
  assert.equal(statSync(join(state, 'service')).mode & 0o777, 0o700);
  assert.equal(await container.stop(), 0);
});

test('the health check fails while the service is not ready', { skip }, async () => {
  const container = await startContainer(image, openState('health'));
  assert.equal(container.isHealthy(), true);
  const wrong = { ...image, health: image.health.map((word) => word.replace(':8000/', ':8001/')) };
  assert.notDeepEqual(wrong.health, image.health);
  assert.throws(() => container.execute(...wrong.health));
  assert.equal(await container.stop(), 0);
});

test('instructions that are not known are refused', () => {
  assert.deepEqual(parseInstructions('# a\nRUN a \\\n  && b\n'), [{ name: 'RUN', rest: 'a && b' }]);
  const build = (text: string) => () =>
    buildImage(text, { context: dir, folder: mkdtempSync(join(dir, 'none-')), makeBase: () => {} });
  assert.throws(build('RUN a'), /before FROM/);
  assert.throws(build('FROM scratch\nSHELL ["a"]'), /SHELL is not known/);
  assert.throws(build('FROM scratch\nCOPY none /'), /finds 0 files/);
});

/** A Debian root that boots: with systemd, the program, the unit, and the files that the page names. */
function buildMachine(): string {
  const machine = join(dir, 'machine');
  execFileSync('cp', ['-a', CACHE, machine]);
  const install =
    'apt-get update -q && apt-get install -y -q --no-install-recommends systemd systemd-sysv dbus';
  const script = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" sh -ec "$1"';
  execFileSync('unshare', ['--mount', 'sh', '-ec', script, machine, install], {
    stdio: 'ignore',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' },
  });
  cpSync(join(image.root, 'usr/lib/customshouse'), join(machine, 'usr/lib/customshouse'), {
    recursive: true,
  });
  cpSync(join(image.root, 'usr/bin/node'), join(machine, 'usr/bin/node'));
  cpSync(join(image.root, 'usr/bin/customshouse'), join(machine, 'usr/local/bin/customshouse'));
  const units = join(machine, 'etc/systemd/system');
  cpSync(join(DEPLOY, 'systemd/customshouse.service'), join(units, 'customshouse.service'));
  symlinkSync('../customshouse.service', join(units, 'multi-user.target.wants/customshouse.service'));
  cpSync(
    join(DEPLOY, 'systemd/customshouse.sysusers'),
    join(machine, 'usr/lib/sysusers.d/customshouse.conf'),
  );
  execFileSync('chroot', [machine, 'systemd-sysusers'], { stdio: 'ignore' });
  mkdirSync(join(machine, 'etc/customshouse'));
  chmodSync(join(machine, 'etc/customshouse'), 0o750);
  cpSync(join(DEPLOY, 'systemd/service.yaml'), join(machine, 'etc/customshouse/service.yaml'));
  execFileSync('chroot', [machine, 'chown', '-R', 'root:customshouse', '/etc/customshouse']);
  return machine;
}

/** Returns the process ID of the machine's first process, as this machine sees it. */
function findFirst({ pid }: ChildProcess): string | undefined {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0] || undefined;
}

test('the unit runs under systemd with all its restrictions, reloads and stops', { skip }, async (t) => {
  const machine = buildMachine();
  const words = ['--directory', machine, '--register=no', '--keep-unit', '--private-network', '--boot'];
  const booted = spawn('systemd-nspawn', words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => booted.once('close', resolve));
  for (const stream of [booted.stdout, booted.stderr]) stream.resume();
  const inside = (...command: readonly string[]): string =>
    execFileSync(
      'nsenter',
      [
        '--target',
        findFirst(booted)!,
        '--mount',
        '--pid',
        '--net',
        '--uts',
        '--ipc',
        '--root',
        '--wd',
        '--',
        ...command,
      ],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      },
    );
  const attempt = (...command: readonly string[]): string => {
    try {
      return inside(...command).trim();
    } catch (error) {
      return `${(error as { stdout?: string }).stdout ?? ''}${(error as { stderr?: string }).stderr ?? ''}`.trim();
    }
  };
  const ask = (path: string, init: RequestInit = {}): string =>
    attempt(
      'node',
      '-e',
      `fetch('http://127.0.0.1:8000${path}', ${JSON.stringify(init)}).then(async (r) => console.log(r.status, await r.text()), () => console.log('none'))`,
    );
  try {
    await until(
      () => findFirst(booted) !== undefined && ask('/v1/ready').startsWith('200'),
      'a ready service in the machine',
      500,
    );
    assert.equal(attempt('systemctl', 'is-active', 'customshouse'), 'active');
    const asService = (...command: readonly string[]) =>
      attempt('setpriv', '--reuid=customshouse', '--regid=customshouse', '--clear-groups', ...command);
    const config = ['--config', '/etc/customshouse/service.yaml'];
    const token = asService('customshouse', 'token', 'show', ...config);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    assert.match(ask('/v1/scan/input', scan('hello')), /^401 /);
    assert.match(
      ask('/v1/scan/input', { ...scan(`Use key ${SECRET}`), headers }),
      /^200 .*"decision":"block"/,
    );

    const main = attempt('systemctl', 'show', 'customshouse', '--property=MainPID', '--value');
    const status = attempt('cat', `/proc/${main}/status`);
    assert.match(status, /^Seccomp:\t2$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.match(status, /^CapBnd:\t0+$/m);

    assert.equal(attempt('systemctl', 'reload', 'customshouse'), '');
    appendFileSync(join(machine, 'etc/customshouse/service.yaml'), 'policies: [{name: a}]\n');
    assert.match(attempt('systemctl', 'reload', 'customshouse'), /failed/);
    assert.match(attempt('journalctl', '--unit=customshouse', '--no-pager'), /policies\[0\]|`boundary`/);
    assert.match(ask('/v1/scan/input', { ...scan('hello'), headers }), /^200 .*"decision":"allow"/);

    // A job that lowers its own priority, which the filter of system calls must allow.
    const operator = asService('customshouse', 'token', 'show', 'operator', ...config);
    const asOperator = { headers: { ...headers, authorization: `Bearer ${operator}` } };
    const job = ask('/v1/dashboard/audit/verify', { ...asOperator, method: 'POST', body: '{}' });
    const id = /"job_id":"([^"]+)"/.exec(job)?.[1];
    assert.ok(id !== undefined, job);
    await until(
      () => /"intact":true/.test(ask(`/v1/dashboard/audit/jobs/${id}`, asOperator)),
      'a verified audit log',
      500,
    );
    assert.match(asService('customshouse', 'audit', 'verify', ...config), /^intact/);
    assert.equal(attempt('systemctl', 'kill', '--kill-whom=main', '--signal=SIGKILL', 'customshouse'), '');
    cpSync(join(DEPLOY, 'systemd/service.yaml'), join(machine, 'etc/customshouse/service.yaml'));
    await until(() => ask('/v1/ready').startsWith('200'), 'the service after a crash', 500);
    assert.equal(attempt('systemctl', 'stop', 'customshouse'), '');
    const shown = attempt('systemctl', 'show', 'customshouse', '--property=Result,ExecMainStatus');
    assert.deepEqual(shown.split('\n').sort(), ['ExecMainStatus=0', 'Result=success']);
    t.diagnostic(attempt('systemctl', '--version').split('\n')[0]!);
  } finally {
    attempt('poweroff');
    const killed = setTimeout(() => booted.kill('SIGKILL'), 30_000);
    await ended;
    clearTimeout(killed);
  }
});
