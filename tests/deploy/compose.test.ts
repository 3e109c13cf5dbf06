/** The Compose file is valid, hides its secrets, and its configuration runs with a real PostgreSQL. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { explainMissingPostgres, startPostgres } from '../../src/platform/store/testing/postgres-server.ts';
import { startTestService } from '../support/service.ts';
import { parseInstructions } from './support/containerfile.ts';
import { DEPLOY, explainMissing, needProgram, run } from './support/programs.ts';

const FOLDER = join(DEPLOY, 'compose');
const FILE = join(FOLDER, 'compose.yaml');
const compose = parse(readFileSync(FILE, 'utf8'));
const { customshouse, database } = compose.services;

test('the schema of Compose accepts the file', { skip: explainMissing('deploy-python') }, () => {
  const program = needProgram('deploy-python', 'check-jsonschema');
  const check = (file: string) => run(program, ['--builtin-schema', 'vendor.compose-spec', file]);
  const { code, output } = check(FILE);
  assert.equal(code, 0, output);
  const dir = mkdtempSync(join(tmpdir(), 'compose-'));
  try {
    writeFileSync(join(dir, 'wrong.yaml'), JSON.stringify({ services: { a: { imagee: 'b' } } }));
    assert.equal(check(join(dir, 'wrong.yaml')).code, 1);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('every secret comes from a file, and every other variable has an example', () => {
  for (const { environment, secrets } of [customshouse, database])
    for (const [name, value] of Object.entries<string>(environment)) {
      if (!/PASSWORD|KEY|TOKEN|SECRET/.test(name)) continue;
      const secret = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1];
      assert.ok(name.endsWith('_FILE') && secrets.includes(secret), name);
      assert.equal(compose.secrets[secret!].file, `./secrets/${secret}`);
    }
  const used = [...readFileSync(FILE, 'utf8').matchAll(/\$\{([A-Z_]+):-/g)].map(([, name]) => name);
  const shown = readFileSync(join(FOLDER, '.env.example'), 'utf8').match(/^[A-Z_]+(?==)/gm);
  assert.deepEqual(shown, [...new Set(used)]);
  assert.equal(existsSync(join(FOLDER, '.env')), false);
});

test('the service has the rights of its image alone, and is checked as there', () => {
  assert.equal(customshouse.read_only, true);
  assert.deepEqual(customshouse.cap_drop, ['ALL']);
  assert.equal(compose.networks.store.internal, true);
  assert.deepEqual(database.networks, ['store']);
  for (const port of customshouse.ports) assert.match(port, /^127\.0\.0\.1:/);
  const file = join(FOLDER, customshouse.build.context, customshouse.build.dockerfile);
  const health = parseInstructions(readFileSync(file, 'utf8')).find(
    ({ name }) => name === 'HEALTHCHECK',
  )!.rest;
  const [, ...command] = customshouse.healthcheck.test;
  assert.deepEqual(command, JSON.parse(health.slice(health.indexOf('CMD ') + 4)));
});

test('its configuration runs with PostgreSQL, with secrets from files', {
  skip: explainMissingPostgres() ?? false,
}, async () => {
  const server = await startPostgres();
  const dir = mkdtempSync(join(tmpdir(), 'compose-'));
  try {
    const { port, username, pathname } = new URL(await server.makeDatabase());
    // The names of the container's network and of its volume, as this machine has them.
    const config = readFileSync(join(FOLDER, 'service.yaml'), 'utf8')
      .replace('customshouse:$', `${username}:$`)
      .replace('@database:5432/customshouse', `@127.0.0.1:${port}${pathname}`)
      .replace('host: 0.0.0.0, port: 8000, ', '')
      .replace(/^state_dir: .*\n/m, '');
    const env: Record<string, string> = {};
    for (const [name, path] of Object.entries<string>(customshouse.environment)) {
      env[name] = join(dir, path.slice(path.lastIndexOf('/') + 1));
      writeFileSync(env[name], `${'k'.repeat(40)}\n`);
    }
    const service = await startTestService({ config, env });
    try {
      assert.match(service.logs(), /PostgreSQL|postgres:\/\//i);
      const refused = await fetch(`${service.url}/v1/scan/input`, { method: 'POST', body: '{}' });
      assert.equal(refused.status, 401);
    } finally {
      await service.stop();
    }
    await assert.rejects(startTestService({ config }), /`STORE_PASSWORD`, which is not set/);
  } finally {
    await server.remove();
    rmSync(dir, { recursive: true });
  }
});
