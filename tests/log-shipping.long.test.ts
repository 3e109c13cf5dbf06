/** The audit log in object storage: shipped by a real service to moto, verified, tampered with, and restored. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { S3Client } from '@aws-sdk/client-s3';
import { locateComponent } from '../scripts/components/components.ts';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { runProgram } from './support/checkout.ts';
import { eventually } from './support/secrets/eventually.ts';
import { awsKeys, type Moto, startMoto } from './support/secrets/moto.ts';
import { startTestService, type TestService } from './support/service.ts';

const BUCKET = 'acme-audit';
const LOCK_DAYS = 30;
const program = locateComponent('moto');
const skip = program === null ? 'moto is not installed (scripts/run scripts/components/main.ts moto)' : false;

let moto: Moto;
let client: S3Client;
let sdk: typeof import('@aws-sdk/client-s3');

before(async () => {
  if (program === null) return;
  moto = await startMoto(program, true);
  sdk = await import('@aws-sdk/client-s3');
  client = new sdk.S3Client({
    region: 'eu-central-1',
    endpoint: getEndpoint(),
    forcePathStyle: true,
    credentials: {
      accessKeyId: moto.keys.right.AWS_ACCESS_KEY_ID,
      secretAccessKey: moto.keys.right.AWS_SECRET_ACCESS_KEY,
    },
  });
  await client.send(
    new sdk.CreateBucketCommand({
      Bucket: BUCKET,
      ObjectLockEnabledForBucket: true,
      CreateBucketConfiguration: { LocationConstraint: 'eu-central-1' },
    }),
  );
});
after(() => {
  client?.destroy();
  moto?.stop();
});

const getEndpoint = (): string => `http://127.0.0.1:${moto.port}`;
const getEnv = () => ({ ...moto.keys.right, AWS_ENDPOINT_URL: getEndpoint() });

async function startShipping(
  t: TestContext,
  prefix: string,
  { port, keys }: Pick<Moto, 'port' | 'keys'> = moto,
): Promise<TestService> {
  const endpoint = `http://127.0.0.1:${port}`;
  const service = await startTestService({
    keep: true,
    env: { ...keys.right },
    config: {
      audit: {
        object_storage: {
          ...{ bucket: BUCKET, prefix, region: 'eu-central-1', endpoint, path_style: true },
          ...{ seal_after: '1s', object_lock: { mode: 'governance', days: LOCK_DAYS } },
        },
      },
    },
  });
  t.after(async () => {
    await service.stop();
    rmSync(service.dir, { recursive: true, force: true });
  });
  return service;
}

async function decide(service: TestService, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const answer = await fetch(`${service.url}/v1/intercept/tool`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ tool: 'bash', input: { command: `rm -rf / # secret-plan-${index}` } }),
    });
    assert.equal(((await answer.json()) as { decision: string }).decision, 'block');
  }
}

async function listKeys(prefix: string): Promise<readonly string[]> {
  const { Contents = [] } = await client.send(
    new sdk.ListObjectsV2Command({ Bucket: BUCKET, Prefix: `${prefix}/` }),
  );
  return Contents.map(({ Key = '' }) => Key);
}

const listFiles = async (prefix: string) =>
  (await listKeys(prefix)).filter((key) => key.includes('/journal/worker-1/'));

/** The service ships every 15 seconds. */
async function untilShipped(prefix: string, count: number): Promise<void> {
  await eventually(async () => assert.ok((await listFiles(prefix)).length >= count));
}

async function runAudit(words: readonly string[], cwd?: string) {
  return runProgram([process.execPath, MAIN_FILE, 'audit', ...words], {
    env: getEnv(),
    ...(cwd !== undefined && { cwd }),
  });
}

const verify = (prefix: string) => runAudit(['verify', `s3://${BUCKET}/${prefix}`, '--json']);

async function readObject(key: string): Promise<Uint8Array> {
  const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: BUCKET, Key: key }));
  return Body!.transformToByteArray();
}

async function replaceObject(key: string, body: Uint8Array): Promise<void> {
  await client.send(new sdk.PutObjectCommand({ Bucket: BUCKET, Key: key, Body: body }));
}

test('a lost node is restored from the bucket, where no change goes unnoticed', { skip }, async (t) => {
  const service = await startShipping(t, 'lost');
  await decide(service, 3);
  await untilShipped('lost', 1);
  await decide(service, 3);
  await untilShipped('lost', 2);
  await service.kill('SIGKILL');
  rmSync(service.state_dir, { recursive: true });

  const report = await verify('lost');
  assert.equal(report.code, 0, report.stderr);
  const [{ log_id, node, report: found }] = JSON.parse(report.stdout);
  const worker = found.writers.find((each: { writer: string }) => each.writer === 'worker-1');
  assert.deepEqual([typeof node, worker.events, worker.erased_actions], ['string', 6, 6]);

  const target = join(service.dir, 'restored');
  const restored = await runAudit(['restore', `s3://${BUCKET}/lost`, '--to', target]);
  assert.equal(restored.code, 0, restored.stderr);
  assert.ok(restored.stdout.includes(log_id));
  assert.equal((await runAudit(['verify', '--dir', target, '--partial'])).code, 0);
  const twice = await runAudit(['restore', `s3://${BUCKET}/lost`, '--to', target]);
  assert.deepEqual([twice.code, /has files/.test(twice.stderr)], [2, true]);

  // The folder is a state folder like any other: it answers queries and gives evidence.
  writeFileSync(join(service.dir, 'lost.yaml'), 'version: v1alpha1\nstate_dir: restored\n');
  const program = [process.execPath, MAIN_FILE];
  const listed = await runProgram(
    [...program, 'logs', '--config', 'lost.yaml', '--decision', 'block', '--json'],
    {
      cwd: service.dir,
    },
  );
  assert.equal(listed.stdout.trim().split('\n').length, 6, listed.stderr);
  const pack = await runAudit(
    ['export', '--pack', 'lost.tar.gz', '--last', '1d', '--config', 'lost.yaml'],
    service.dir,
  );
  assert.equal(pack.code, 0, pack.stderr);
  const proof = await runAudit(['verify', 'lost.tar.gz'], service.dir);
  assert.equal(proof.code, 0, proof.stdout);

  const [first = '', second = ''] = await listFiles('lost');
  const kept = await readObject(first);
  await replaceObject(first, await readObject(second));
  assert.equal((await verify('lost')).code, 1, 'another file in its place');
  await replaceObject(first, kept);
  assert.equal((await verify('lost')).code, 0);
  await client.send(new sdk.DeleteObjectCommand({ Bucket: BUCKET, Key: second }));
  await replaceObject(second.replace(/\d{15}/, '000000000099999'), kept);
  assert.equal((await verify('lost')).code, 1, 'a gap in the middle');
});

test('objects are locked, hold no shown action, and are never replaced', { skip }, async (t) => {
  const service = await startShipping(t, 'locked');
  await decide(service, 1);
  await untilShipped('locked', 1);
  const [key = ''] = await listFiles('locked');
  const head = await client.send(new sdk.HeadObjectCommand({ Bucket: BUCKET, Key: key }));
  const days = (Number(head.ObjectLockRetainUntilDate) - Date.now()) / 86_400_000;
  assert.deepEqual([head.ObjectLockMode, Math.round(days)], ['GOVERNANCE', LOCK_DAYS]);
  const { gunzipSync } = await import('node:zlib');
  assert.doesNotMatch(gunzipSync(await readObject(key)).toString(), /secret-plan/);

  // Another log has the key of the next file.
  const [writerFolder = ''] = key.split(/\d{15}/);
  const { last } = JSON.parse(JSON.stringify({ last: head.Metadata?.['last-seq'] }));
  const next = `${writerFolder}${String(Number(last) + 1).padStart(15, '0')}.jsonl.gz`;
  await replaceObject(next, Buffer.from('foreign'));
  await decide(service, 1);
  await eventually(async () => assert.match(service.logs(), /shipping_conflict/));
  assert.equal(Buffer.from(await readObject(next)).toString(), 'foreign');
});

test('without the bucket the service decides on, and ships later', { skip }, async (t) => {
  const strict = await startMoto(program!);
  t.after(strict.stop);
  const keys = { ...strict.keys, right: awsKeys('wrong') };
  const service = await startShipping(t, 'late', { port: strict.port, keys });
  await decide(service, 1);
  await eventually(async () => assert.match(service.logs(), /object_storage_denied/));
  assert.ok(!service.logs().includes(keys.right.AWS_SECRET_ACCESS_KEY));
  await decide(service, 1);
  await service.stop();
  const file = join(service.dir, 'service.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(String(strict.port), String(moto.port)));
  const shipped = await runAudit(['ship', '--json'], service.dir);
  assert.equal(shipped.code, 0, shipped.stderr);
  assert.deepEqual(JSON.parse(shipped.stdout).open, []);
  assert.ok((await listFiles('late')).length >= 1);
  assert.equal((await verify('late')).code, 0);
});

test('commands say what is wrong with an address or a bucket', { skip }, async () => {
  const wrong = await runAudit(['verify', 's3://UPPER/x']);
  assert.deepEqual([wrong.code, /is no address of a bucket/.test(wrong.stderr)], [2, true]);
  const missing = await runAudit(['verify', 's3://no-such-bucket/x']);
  assert.deepEqual([missing.code, /There is no bucket `no-such-bucket`/.test(missing.stderr)], [2, true]);
  const empty = await runAudit(['verify', `s3://${BUCKET}/nothing`]);
  assert.deepEqual(
    [empty.code, /There is no log in the bucket under `nothing`/.test(empty.stderr)],
    [2, true],
  );
});
