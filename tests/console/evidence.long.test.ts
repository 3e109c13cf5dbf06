/** The pages Audit and Compliance on a real service in Chromium: verification, evidence packs, legal holds and reports. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { loadVerifier } from '../../src/features/evidence/verify-pack.ts';
import {
  consoleSkipReason,
  findAccessibilityFaults,
  findFaultsInBothThemes,
  launchChromium,
  signInToConsole,
} from '../support/console-browser.ts';
import { sampleRows } from '../support/nightly.ts';
import { startTestService, type TestService } from '../support/service.ts';

const skip = consoleSkipReason;
const MARKER = '<img src=x onerror=alert(1)>';
const MAIL = 'Write to jane.doe@corp-mail.io today.';
/** The folder for screenshots; without it, none is written. */
const SHOTS = process.env.CONSOLE_SHOTS;

let service: TestService;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  [service, browser] = await Promise.all([startTestService({ workers: 2 }), launchChromium()]);
  for (const tenantId of ['acme', 'globex', MARKER])
    for (let at = 0; at < 4; at++) {
      const body = JSON.stringify({ text: MAIL, tenant_id: tenantId, agent_id: `bot-${at}` });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${service.url}/v1/scan/input`, { method: 'POST', headers, body });
    }
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

async function openPath(page: Page, path: string): Promise<void> {
  await page.goto(`${service.url}/dashboard${path}`);
  await page.locator('h1').waitFor();
  await page.waitForLoadState('networkidle');
}

async function picture(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

test('an auditor verifies the log, makes a pack and downloads it', { skip }, async () => {
  const { page, context, faults } = await signInToConsole(browser, service, {
    user_id: 'evidence-auditor',
    role: 'auditor',
  });
  await openPath(page, '/audit?part=chain');
  await page.getByText('The log was not verified in the last day').waitFor();
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText(/^Intact: \d+ events, verified/).waitFor({ timeout: 30_000 });
  await page.getByRole('row', { name: /worker-1/ }).waitFor();
  // With the keyboard alone: open the dialog, leave the window as it is, and start.
  await page.getByRole('button', { name: 'Make an evidence pack' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Tenant; empty for all').fill('acme');
  await picture(page, 'audit-pack-dialog-1440');
  assert.deepEqual(await findAccessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Make pack' }).focus();
  await page.keyboard.press('Enter');
  const link = page.getByRole('link', { name: 'Download' });
  await link.waitFor({ timeout: 30_000 });
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
  assert.match(download.suggestedFilename(), /^evidence-\d{4}-\d\d-\d\d\.tar\.gz$/);
  const { verifyPack } = await loadVerifier();
  const report = await verifyPack(await download.path(), { public_key: null });
  assert.deepEqual([report.broken, report.tenant_id, report.events], [null, 'acme', 4]);
  await picture(page, 'audit-chain-1440');
  assert.equal(await page.getByRole('tab', { name: 'Legal holds' }).count(), 1);
  await page.getByRole('tab', { name: 'Legal holds' }).click();
  await page.getByText('There are no legal holds.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add a legal hold' }).count(), 0, 'only sees holds');
  assert.deepEqual(faults, []);
  await context.close();
});

test('an administrator adds and removes a legal hold; markers stay text', { skip }, async () => {
  const { page, context, faults } = await signInToConsole(browser, service, {
    user_id: 'evidence-admin',
    role: 'admin',
  });
  await openPath(page, '/audit?part=holds');
  await page.getByRole('button', { name: 'Add a legal hold' }).click();
  await page.getByRole('button', { name: 'Add hold' }).click();
  assert.equal(await page.getByRole('dialog').count(), 1, 'a reason is required');
  await page.getByLabel('Reason, such as the number of a case').fill(`Case 7 ${MARKER}`);
  await page.getByRole('button', { name: 'Add hold' }).click();
  await page.getByText('Name a tenant, an agent, a session or a time').waitFor();
  await page.getByLabel('Tenant; empty for all').fill(MARKER);
  await page.getByLabel('From (UTC)').fill('2026-01-01');
  await page.getByRole('button', { name: 'Add hold' }).click();
  const row = page.getByRole('row', { name: /Case 7/ });
  await row.waitFor();
  assert.match((await row.textContent()) ?? '', /<img src=x/);
  const file = readFileSync(join(service.state_dir, 'legal-holds.json'), 'utf8');
  assert.equal(JSON.parse(file).holds.length, 1);
  await picture(page, 'audit-holds-1440');
  await row.getByRole('button', { name: 'Remove' }).waitFor();
  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove hold' }).click();
  await page.getByText('There are no legal holds.').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('the compliance page shows controls with evidence, and downloads the report', { skip }, async () => {
  const { page, context, faults } = await signInToConsole(browser, service, {
    user_id: 'evidence-reader',
    role: 'viewer',
  });
  await openPath(page, '/compliance?framework=hipaa&last=24h');
  await page.getByRole('heading', { level: 2 }).nth(2).waitFor({ timeout: 30_000 });
  assert.ok((await page.locator('.panel.control').count()) >= 5);
  const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d';
  const gap = page.getByText(new RegExp(`^No event was recorded .* \\(${time} to ${time}\\)$`));
  assert.equal(await gap.count(), 1, 'the span before the first event');
  assert.equal(await page.getByRole('button', { name: 'Make an evidence pack' }).count(), 0, 'no permission');
  for (const [label, suffix, content] of [
    ['Download JSON', 'json', /"framework": "hipaa"/],
    ['Download HTML', 'html', /^<!doctype html>/i],
    ['Download Markdown', 'md', /^# /m],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: label }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `compliance-hipaa.${suffix}`);
    const text = readFileSync(await download.path(), 'utf8');
    assert.match(text, content);
    assert.ok(!text.includes('jane.doe@corp-mail.io'));
  }
  await picture(page, 'compliance-1440');
  const evidence = page.locator('.panel.control table a').first();
  await evidence.click();
  await page.getByRole('table', { name: 'Audit events' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a viewer sees no chain and no holds, and the routes answer 403', { skip }, async () => {
  const { page, context } = await signInToConsole(browser, service, {
    user_id: 'evidence-viewer',
    role: 'viewer',
    tenant: ['acme'],
  });
  await openPath(page, '/audit');
  assert.equal(await page.getByRole('tab').count(), 1);
  const statuses = await page.evaluate(`(async () => {
    const { csrf_token } = await (await fetch('/v1/session')).json();
    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf_token };
    const post = (path) => fetch(path, { method: 'POST', headers, body: '{}' });
    const all = await Promise.all([
      post('/v1/dashboard/audit/verify'), post('/v1/dashboard/evidence/packs'), post('/v1/dashboard/audit/holds'),
      fetch('/v1/dashboard/audit/jobs'), fetch('/v1/dashboard/audit/holds'),
    ]);
    return all.map(({ status }) => status);
  })()`);
  assert.deepEqual(statuses, [403, 403, 403, 403, 403]);
  await context.close();
});

test('axe finds nothing serious on these pages in both themes, at both widths', { skip }, async () => {
  let looked = 0;
  const pages = [
    ['audit-events', '/audit'],
    ['audit-chain', '/audit?part=chain'],
    ['audit-holds', '/audit?part=holds'],
    ['compliance', '/compliance?framework=hipaa&last=24h'],
  ] as const;
  const views = [
    [1_440, pages],
    [390, sampleRows(pages, 3)],
  ] as const;
  for (const [width, shown] of views) {
    const user = { user_id: `evidence-${width}`, role: 'admin' };
    const { page, context } = await signInToConsole(browser, service, user, { width });
    for (const [name, path] of shown) {
      await openPath(page, path);
      assert.deepEqual(await findFaultsInBothThemes(page), [], `${name} ${width}`);
      const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isWider, false, `${name} is wider than ${width}`);
      await picture(page, `${name}-${width}`);
      looked += 1;
    }
    await context.close();
  }
  assert.equal(
    looked,
    views.reduce((sum, [, shown]) => sum + shown.length, 0),
  );
});
