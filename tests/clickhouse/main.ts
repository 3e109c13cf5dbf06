/**
 * `npm run test:clickhouse`: the SQL of `docs/how-to/ship-the-audit-log.md` in ClickHouse's engine, over a log that a real
 * service has shipped to moto. Installs `chdb` (0.9 GB) from PyPI.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { locateComponent } from '../../scripts/components/components.ts';
import { getPrograms, installFromPypi, isFromPypi } from '../../scripts/components/python.ts';
import { root } from '../support/checkout.ts';
import { eventually } from '../support/secrets/eventually.ts';
import { startMoto } from '../support/secrets/moto.ts';
import { startTestService } from '../support/service.ts';

const REQUIREMENTS = ['chdb==4.4.0'];
const BUCKET = 'acme-audit';
const BLOCKED = 7;

const program = locateComponent('moto');
assert.ok(program, 'moto is not installed: scripts/run scripts/components/main.ts moto');
if (!isFromPypi('chdb', REQUIREMENTS))
  assert.ok(installFromPypi('chdb', REQUIREMENTS), 'chdb cannot be installed');
const moto = await startMoto(program, true);
const endpoint = `http://127.0.0.1:${moto.port}`;
const keys = moto.keys.right;
assert.ok((await fetch(`${endpoint}/${BUCKET}`, { method: 'PUT' })).ok, 'the bucket is not made');
const service = await startTestService({
  env: { ...keys },
  config: {
    audit: {
      object_storage: {
        ...{ bucket: BUCKET, prefix: 'production', endpoint, path_style: true, seal_after: '1s' },
      },
    },
  },
});
try {
  for (let index = 0; index < BLOCKED; index++) await decide('rm -rf /');
  await decide('ls');
  await eventually(async () => assert.deepEqual(query(), [{ agent_id: 'coder', blocked: BLOCKED }]));
  console.log(`ClickHouse counts ${BLOCKED} blocked calls, as many as were made.`);
} finally {
  await service.stop();
  moto.stop();
  rmSync(service.dir, { recursive: true, force: true });
}

async function decide(command: string): Promise<void> {
  const answer = await fetch(`${service.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ agent_id: 'coder', tool: 'bash', input: { command } }),
  });
  assert.equal(answer.status, 200);
}

/** Runs the statements of the page, with the address of moto. */
function query(): readonly object[] {
  const page = readFileSync(join(root, 'docs/how-to/ship-the-audit-log.md'), 'utf8');
  const source = `s3('${endpoint}/${BUCKET}/production/*/journal/*/*.jsonl.gz', '${keys.AWS_ACCESS_KEY_ID}', '${keys.AWS_SECRET_ACCESS_KEY}', 'LineAsString')`;
  const statements = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) =>
    sql.replace(/s3\('[^']+', 'LineAsString'\)/, source).replace(/;\s*$/, ''),
  );
  assert.equal(statements.length, 2, 'the page has a view and a question');
  const run = spawnSync(join(getPrograms('chdb'), 'python'), [join(import.meta.dirname, 'query.py')], {
    input: JSON.stringify(statements),
    encoding: 'utf8',
  });
  assert.equal(run.status, 0, run.stderr);
  const { data } = JSON.parse(run.stdout) as { data: readonly { agent_id: string; blocked: number }[] };
  return data.map(({ agent_id, blocked }) => ({ agent_id, blocked }));
}
