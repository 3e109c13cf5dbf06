/**
 * Measures the first load of the console in Chromium with four times CPU throttling: the JavaScript that the browser
 * fetches (gzip), and the time until the overview shows its figures and the main thread is free, the chart included.
 *
 * Usage: scripts/run benchmarks/console/console-load.ts [loads=5] [folder]. The folder is one that `npm run demo` or
 * `run.ts` filled; without one, the service starts with 20,000 events of the demonstration. Needs `npm run console`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { DEMO_CONFIGURATION } from '../../scripts/demo/configuration.ts';
import { consoleSkipReason, launchChromium, signInToConsole } from '../../tests/support/console-browser.ts';
import { startTestService, type TestService } from '../../tests/support/service.ts';
import { median, spread } from '../measure.ts';

const THROTTLING = 4;
const DEMO_EVENTS = 20_000;
/** The main thread counts as free if no task of more than 50 ms runs for this time. */
const QUIET_MS = 500;

const loads = Number(process.argv[2] ?? 5);
const given = process.argv[3];
const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'bench-console-load-')) : resolve(given);

interface LoadResult {
  /** The first time at which the figures of the overview are on the page, in milliseconds since the navigation. */
  readonly figures_ms: number;
  /** The first time at which the chart is on the page. */
  readonly chart_ms: number;
  /** The end of the last long task before the main thread was free; at least `figures_ms`. */
  readonly interactive_ms: number;
  readonly requests: number;
  readonly script_bytes: number;
  readonly script_gzip_bytes: number;
  /** A loop of fixed length in the same throttled page, to compare machines. */
  readonly reference_ms: number;
}

/** Runs before the scripts of the page. */
const OBSERVE = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) longTasks.push(startTime + duration);
  }).observe({ type: 'longtask', buffered: true });
  globalThis.figuresAt = 0;
  globalThis.chartAt = 0;
  const look = () => {
    const now = () => performance.now();
    if (globalThis.figuresAt === 0 && document.querySelector('.tiles .tile-value'))
      requestAnimationFrame(() => setTimeout(() => (globalThis.figuresAt = now())));
    if (globalThis.chartAt === 0 && document.querySelector('canvas'))
      requestAnimationFrame(() => setTimeout(() => (globalThis.chartAt = now())));
    if (globalThis.figuresAt === 0 || globalThis.chartAt === 0) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

/** A function of the page. The same work in each run. */
const REFERENCE = `(() => {
  const began = performance.now();
  let sum = 0;
  for (let at = 0; at < 5e7; at += 1) sum = (sum + at * 31) % 1000003;
  return performance.now() - began + sum * 0;
})()`;

async function measureLoad(context: BrowserContext, url: string): Promise<LoadResult> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING });
  await page.addInitScript(OBSERVE);
  const counts = countResponses(page);
  await page.goto(`${url}/dashboard/`, { waitUntil: 'commit' });
  await waitUntil(page, 'globalThis.figuresAt > 0 && globalThis.chartAt > 0');
  const { requests, scripts } = counts();
  await waitUntil(page, `performance.now() - Math.max(chartAt, ...longTasks) > ${QUIET_MS}`);
  const [figuresMs, chartMs, interactiveMs, referenceMs] = (await page.evaluate(
    `[figuresAt, chartAt, Math.max(figuresAt, ...longTasks), ${REFERENCE}]`,
  )) as [number, number, number, number];
  const bodies = await Promise.all(scripts.map((script) => script.body()));
  await page.close();
  return {
    ...{
      figures_ms: figuresMs,
      chart_ms: chartMs,
      interactive_ms: interactiveMs,
      reference_ms: referenceMs,
      requests,
    },
    script_bytes: bodies.reduce((sum, body) => sum + body.length, 0),
    script_gzip_bytes: bodies.reduce((sum, body) => sum + gzipSync(body).length, 0),
  };
}

const WAIT_MS_MAX = 60_000;

/** Waits for a condition through the debugger, because the policy of the page refuses `eval`. */
async function waitUntil(page: Page, condition: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < WAIT_MS_MAX; await sleep(100))
    if ((await page.evaluate(condition)) === true) return;
  throw new Error(`the page did not become ready: ${condition}`);
}

/** Returns a function that returns the responses so far: their number, and those with scripts. */
function countResponses(
  page: Page,
): () => { readonly requests: number; readonly scripts: readonly Response[] } {
  const all: Response[] = [];
  page.on('response', (response) => all.push(response));
  return () => ({
    requests: all.length,
    scripts: all.filter((response) => new URL(response.url()).pathname.endsWith('.js')),
  });
}

async function run(service: TestService, browser: Browser): Promise<void> {
  const user = { user_id: `bench-${Date.now()}`, role: 'admin' };
  const { context, page } = await signInToConsole(browser, service, user);
  await page.close();
  // The first load reads the files of the service from the disk.
  await measureLoad(context, service.url);
  const results: LoadResult[] = [];
  for (let at = 0; at < loads; at += 1) results.push(await measureLoad(context, service.url));
  const row = (name: string, pick: (result: LoadResult) => number, unit: string) =>
    `| ${name} | ${spread(results.map(pick), 0)} ${unit} |\n`;
  const reference = median(results.map(({ reference_ms }) => reference_ms));
  const interactive = median(results.map(({ interactive_ms }) => interactive_ms));
  process.stdout.write(
    `load of the machine ${loadavg()[0]!.toFixed(1)}, ${loads} loads, throttling ${THROTTLING}\n\n` +
      '| First load of the overview | Median (lowest to highest) |\n|---|---|\n' +
      row('JavaScript, gzip', ({ script_gzip_bytes }) => script_gzip_bytes / 1_000, 'KB') +
      row('JavaScript', ({ script_bytes }) => script_bytes / 1_000, 'KB') +
      row('responses until the chart', ({ requests }) => requests, '') +
      row('figures on the page', ({ figures_ms }) => figures_ms, 'ms') +
      row('chart on the page', ({ chart_ms }) => chart_ms, 'ms') +
      row('interactive', ({ interactive_ms }) => interactive_ms, 'ms') +
      row('reference loop in the same page', ({ reference_ms }) => reference_ms, 'ms') +
      `| interactive, ratio to the reference loop | ${(interactive / reference).toFixed(2)} |\n`,
  );
}

if (consoleSkipReason !== false) throw new Error(consoleSkipReason);
try {
  if (given === undefined) {
    const demo = resolve(import.meta.dirname, '..', '..', 'scripts', 'demo', 'main.ts');
    const args = [demo, '--folder', folder, '--no-serve', '--events', String(DEMO_EVENTS)];
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  }
  const options = { dir: folder, config: DEMO_CONFIGURATION, workers: 1, keep: true };
  const [service, browser] = await Promise.all([startTestService(options), launchChromium()]);
  try {
    await run(service, browser);
  } finally {
    await browser.close();
    await service.stop();
  }
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
