/**
 * The SDK without Node: as one bundle, in a V8 without any global of a platform, and in a browser. All cases hold in the
 * bare V8.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { chromium } from 'playwright-core';
import { differences, loadCases, runAll } from '../../cases/run.ts';
import { locateComponent } from '../../scripts/components/components.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';
import { root } from '../support/checkout.ts';

const options = {
  bundle: true,
  absWorkingDir: root,
  format: 'iife',
  globalName: 'sdk',
  minify: true,
  write: false,
  metafile: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** Bundles a source text and returns the script and the files in it. */
async function bundle(contents: string, platform: 'browser' | 'neutral') {
  const stdin = { contents, resolveDir: root, loader: 'ts' } as const;
  const { outputFiles, metafile } = await build({
    ...options,
    stdin,
    platform,
    mainFields: ['module', 'main'],
  });
  return { script: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}

const BROWSER = "export * from './src/sdk/browser.ts';";
const CLIENT = "export * from './src/sdk/client/index.ts';";
const BARE = `import './src/sdk/bare-globals.ts'; ${BROWSER}`;

test('the bundle for browsers reads no file, and the client alone is small', async (t) => {
  for (const [name, contents, kilobytesMax] of [
    ['the guard in process', BROWSER, 2_100],
    ['the client alone', CLIENT, 40],
  ] as const) {
    const { script, inputs } = await bundle(contents, 'browser');
    assert.deepEqual(
      inputs.filter((path) => /node_modules\/yaml|^node:|sdk\/node\//.test(path)),
      [],
    );
    const [size, packed] = [script.length / 1_000, gzipSync(script).length / 1_000];
    t.diagnostic(`${name}: ${size.toFixed(0)} kB, ${packed.toFixed(0)} kB compressed`);
    assert.ok(size < kilobytesMax, `${size}`);
  }
});

/** Runs in the bare V8. Asks a guard for each case and returns the verdicts as JSON. */
const ASK = `async (text) => {
  const { config, documents, cases } = JSON.parse(text);
  const files = documents.map((value, at) => ({ file: 'policies/' + at + '.yaml', value }));
  const guard = sdk.createEmbeddedGuard({
    agent_id: 'unknown', session_id: null, policy: { config, documents: files }, now_ms: () => 0, random: (bytes) => bytes.fill(7),
  });
  const verdicts = [];
  for (const { request: { operation, body } } of cases) {
    const { text, payload, message, tool, input, output, phase, context = {}, ...about } = body;
    const { tool: about_tool, ...who } = context;
    const subject = { ...who, ...about, ...(about_tool !== undefined && { tool: about_tool }) };
    verdicts.push(await (
      operation === 'scan_input' ? guard.input(text, subject)
      : operation === 'scan_structured' ? guard.structured(payload, subject)
      : operation === 'guard_output' ? guard.output(text, subject)
      : operation === 'intercept_agent_message' ? guard.message(message, subject)
      : phase === 'response' ? guard.toolResult(tool, output, subject)
      : guard.tool(tool, input, subject)
    ));
  }
  return JSON.stringify(verdicts);
}`;

test('every case holds in a V8 without any global of a platform', async (t) => {
  const { script } = await bundle(BARE, 'neutral');
  const context = createContext({});
  runInContext(script, context);
  for (const name of ['process', 'fetch', 'setTimeout', 'crypto', 'performance'])
    assert.equal(runInContext(`typeof ${name}`, context), 'undefined', name);
  const ask = runInContext(`(${ASK})`, context) as (text: string) => Promise<string>;
  const wrong: string[] = [];
  let count = 0;
  for (const group of loadCases()) {
    const verdicts = JSON.parse(await ask(JSON.stringify(group))) as Record<string, unknown>[];
    for (const [at, { name, expect }] of group.cases.entries()) {
      const { monitored: _, ...expected } = expect;
      wrong.push(
        ...differences(expected, verdicts[at] ?? {}).map((each) => `${group.file}: ${name}: ${each}`),
      );
      count += 1;
    }
  }
  t.diagnostic(`${count} cases in a bare V8`);
  assert.deepEqual(wrong, []);
  assert.equal(count, runAll().count);
});

test('no pattern has two groups of one name, which Node 20 and 22 refuse', () => {
  const detectors = builtinFiles.flatMap((file) => file());
  const repeated = detectors.filter(({ pattern }) => {
    const names = [...pattern.source.matchAll(/\(\?<(\w+)>/g)].map(([, name]) => name);
    return new Set(names).size < names.length;
  });
  assert.deepEqual(
    repeated.map(({ id }) => id),
    [],
  );
  assert.ok(detectors.length > 1_000);
});

/** Returns whether a range of versions, such as `^16 || >=20`, has none up to that of the SDK: `>=20.19.0`. */
function needsNewerNode(range = '*'): boolean {
  const versions = [...range.matchAll(/(\d+)(?:\.(\d+))?(?:\.\d+)?/g)].map(
    ([, major, minor = '0']) => Number(major) * 1_000 + Number(minor),
  );
  return versions.length > 0 && Math.min(...versions) > 20_019;
}

test('the SDK loads no package that needs a newer Node', async () => {
  assert.deepEqual(['>=22', '>= 20.19.0', '^16 || >=22', '>=20.20'].map(needsNewerNode), [
    true,
    false,
    false,
    true,
  ]);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; engines?: { node?: string } }>;
  };
  const newer = Object.entries(lock.packages)
    .filter(([path, { dev, engines }]) => path !== '' && !dev && needsNewerNode(engines?.node))
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  assert.ok(newer.includes('undici'), newer.join());
  const { metafile } = await build({
    ...options,
    entryPoints: ['src/sdk/index.ts', 'src/sdk/adapters/*.ts'],
    outdir: 'unused',
    format: 'esm',
    platform: 'node',
  });
  const loaded = new Set(
    Object.keys(metafile.inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    ),
  );
  assert.ok(loaded.has('re2js'), [...loaded].join());
  assert.deepEqual(
    newer.filter((name) => loaded.has(name)),
    [],
  );
});

const browserPath = locateComponent('chromium');

test('a page in Chromium guards by itself', {
  skip: browserPath === null && 'chromium is not installed',
}, async () => {
  const { script } = await bundle(BROWSER, 'browser');
  const server = createServer(({ url }, response) => {
    if (url === '/sdk.js') response.setHeader('content-type', 'text/javascript').end(script);
    else
      response
        .setHeader('content-type', 'text/html')
        .end('<!doctype html><title>SDK</title><script src="/sdk.js"></script>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const seen = await page.evaluate(`(async () => {
      const events = [];
      const guard = sdk.quickstart({ record: (event) => events.push(event) });
      let ran = 0;
      const error = await guard.run('pay', { key: 'sk-ABCDEF1234567890' }, () => { ran += 1; }).catch((e) => e);
      const masked = await guard.output('Mail jane.doe@corp-mail.io now.');
      const gone = await sdk.createClientGuard({ url: 'http://127.0.0.1:9' }).input('hello');
      return [error instanceof sdk.BlockedError, ran, masked.modified_text, events.length, gone.decision];
    })()`);
    assert.deepEqual(seen, [true, 0, 'Mail [REDACTED] now.', 2, 'block']);
  } finally {
    await browser.close();
    server.close();
  }
});
