/**
 * `npm run test:runtimes`: the built package in Node 20, 22 and 24, Bun, Deno, workerd and Chromium, in front of a real
 * service. It installs these runtimes from npm, which takes a minute and 650 MB; Chromium must be installed.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { locateComponent } from '../../scripts/components/components.ts';
import { findNpmProgram, installFromNpm } from '../../scripts/components/npm.ts';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';
import { startTestService } from '../support/service.ts';

const FOLDER = 'tests/runtimes';
const modules = join(root, FOLDER, 'node_modules');
const runtimes: Readonly<Record<string, readonly string[]>> = {
  'Node 20': [join(modules, 'node-20', 'bin', 'node')],
  'Node 22': [join(modules, 'node-22', 'bin', 'node')],
  'Node 24': [process.execPath],
  Bun: [join(modules, '@oven/bun-linux-x64/bin/bun')],
  Deno: [join(modules, '@deno/linux-x64-glibc/deno'), 'run', '-A', '--node-modules-dir=manual'],
};
const WORKERD = join(modules, '@cloudflare/workerd-linux-64/bin/workerd');
const WORKER_FILES = ['workerd.capnp', 'worker.mjs'];

if (findNpmProgram(FOLDER, 'node') === null && !installFromNpm(FOLDER))
  throw new Error(`${FOLDER} cannot be installed.`);
const built = await runProgram([process.execPath, join(root, 'scripts/build/main.ts')], { cwd: root });
if (built.code !== 0) throw new Error(built.stderr);

const app = mkdtempSync(join(tmpdir(), 'runtimes-'));
mkdirSync(join(app, 'node_modules'));
symlinkSync(root, join(app, 'node_modules', 'customshouse'));
copyFileSync(join(root, FOLDER, 'program.mjs'), join(app, 'program.mjs'));
const service = await startTestService();
let failed = 0;
try {
  for (const [name, words] of Object.entries(runtimes)) {
    const journal = join(app, `${name.replace(' ', '-')}.jsonl`);
    const env = ownNodeEnvironment({ SERVICE_URL: service.url, DENO_NO_UPDATE_CHECK: '1' });
    const ran = await runProgram([...words, join(app, 'program.mjs'), journal], { cwd: app, env });
    if (ran.code !== 0) failed += 1;
    console.log(
      `${ran.code === 0 ? 'ok      ' : 'FAILED  '}${name.padEnd(10)}${ran.stdout.trim()}${ran.code === 0 ? '' : `\n${ran.stderr}`}`,
    );
  }
  await bundleForWeb();
  failed += Number(!(await runInWorkerd())) + Number(!(await runInChromium()));
} finally {
  await service.stop();
  rmSync(app, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

/** Bundles what a program without Node imports from the package, as its bundler does, and prints the size. */
async function bundleForWeb(): Promise<void> {
  const contents = `export * from 'customshouse/sdk';
export { guardVercelTools } from 'customshouse/sdk/vercel-ai';`;
  const outfile = join(app, 'sdk.mjs');
  await build({
    stdin: { contents, resolveDir: app },
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
  });
  const script = readFileSync(outfile);
  console.log(
    `        bundle    ${(script.length / 1_000).toFixed(0)} kB, ${(gzipSync(script).length / 1_000).toFixed(0)} kB compressed`,
  );
}

/** Runs the bundle as a worker, which has neither Node nor a DOM. */
async function runInWorkerd(): Promise<boolean> {
  for (const name of WORKER_FILES) copyFileSync(join(root, FOLDER, name), join(app, name));
  const env = ownNodeEnvironment({ SERVICE_URL: service.url });
  const { code, stderr } = await runProgram([WORKERD, 'test', join(app, 'workerd.capnp')], { cwd: app, env });
  console.log(code === 0 ? 'ok      workerd' : `FAILED  workerd\n${stderr}`);
  return code === 0;
}

/** Runs the bundle in a page. */
async function runInChromium(): Promise<boolean> {
  const pageUrl = 'http://guarded.test/';
  const browser = await chromium.launch({
    executablePath: locateComponent('chromium') ?? '',
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage();
    await page.route(`${pageUrl}**`, (route) =>
      route.request().url().endsWith('.mjs')
        ? route.fulfill({ contentType: 'text/javascript', path: join(app, 'sdk.mjs') })
        : route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>SDK</title>' }),
    );
    await page.goto(pageUrl);
    const seen: unknown = await page.evaluate(`(async () => {
      const { BlockedError, guardVercelTools, quickstart } = await import('./sdk.mjs');
      let ran = 0;
      const { pay } = guardVercelTools({ pay: { execute: () => (ran += 1) } }, quickstart(), { on_block: 'raise' });
      const error = await pay.execute({ key: 'sk-ABCDEF1234567890' }).catch((each) => each);
      return error instanceof BlockedError && ran === 0;
    })()`);
    console.log(seen === true ? 'ok      Chromium' : `FAILED  Chromium\n${seen}`);
    return seen === true;
  } finally {
    await browser.close();
  }
}
