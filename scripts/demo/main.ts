/**
 * Starts a service with a day of realistic traffic of 20 agents, to look around in.
 *
 * Usage: npm run demo -- [--folder DIR] [--port 8000] [--events COUNT] [--seed 42] [--no-serve]
 *
 * Without `--folder` it uses a temporary folder, which is removed at the end. `--events 1000000` adds copies of the
 * recorded decisions, for benchmarks. `--no-serve` only fills the folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { evaluateAlertsFrom } from './alert-position.ts';
import { DEMO_CONFIGURATION, DEMO_DOCUMENTS } from './configuration.ts';
import { openDemoEngine } from './engine.ts';
import { openSeededRandom } from './random.ts';
import { replicateEvents } from './replicate.ts';
import { playDay } from './traffic.ts';

const CLI = resolve(import.meta.dirname, '..', '..', 'src', 'entry', 'cli', 'main.ts');

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    port: { type: 'string', default: '8000' },
    events: { type: 'string', default: '0' },
    seed: { type: 'string', default: '42' },
    'no-serve': { type: 'boolean', default: false },
  },
});

const isTemporary = values.folder === undefined;
const folder = resolve(values.folder ?? mkdtempSync(join(tmpdir(), 'customshouse-demo-')));
try {
  await fillFolder();
  if (values['no-serve']) process.stdout.write(`The demonstration is in ${folder}.\n`);
  else process.exitCode = await serveDemo();
} finally {
  if (isTemporary && !values['no-serve']) rmSync(folder, { recursive: true, force: true });
}

/** Plays the day, unless the folder has one already. */
async function fillFolder(): Promise<void> {
  mkdirSync(join(folder, 'policies'), { recursive: true });
  if (existsSync(join(folder, '.service', 'journal'))) return;
  writeFileSync(join(folder, 'service.yaml'), DEMO_CONFIGURATION);
  for (const [name, text] of Object.entries(DEMO_DOCUMENTS))
    writeFileSync(join(folder, 'policies', name), text);
  const endMs = Date.now();
  const clock = { now_ms: endMs - 86_400_000 };
  const engine = await openDemoEngine(folder, clock);
  try {
    const beganMs = performance.now();
    const count = await playDay(engine, clock, openSeededRandom(Number(values.seed)), endMs);
    await replicateEvents(engine, clock, Number(values.events), endMs);
    await evaluateAlertsFrom(engine.runtime, join(folder, '.service'), endMs - 86_400_000);
    const all = Math.max(count, Number(values.events));
    const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
    process.stdout.write(`Recorded ${all} events of 20 agents in ${seconds} s.\n`);
  } finally {
    await engine.close();
  }
}

/** Starts the service in the folder and waits until it ends. Ctrl-C reaches it too. */
async function serveDemo(): Promise<number> {
  const child = spawn(process.execPath, [CLI, 'serve', '--port', values.port], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.stdout.write(
    `The console: http://127.0.0.1:${values.port}/dashboard, with the sign-in link that the service prints below.\n` +
      `The operator token: cat ${join(folder, '.service', 'operator-token')}\n`,
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
