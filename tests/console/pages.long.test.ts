/** Pages of the console on a service with real decisions: they open, stay accessible, show hostile names as text, and decide. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  consoleSkipReason,
  findAccessibilityFaults,
  launchChromium,
  signInToConsole,
} from '../support/console-browser.ts';
import { sampleRows, testNightly } from '../support/nightly.ts';
import { startTestService, type TestService } from '../support/service.ts';

const skip = consoleSkipReason;
const SHOTS = resolve(import.meta.dirname, '..', '..', 'test-output', 'console');
const MARKER = '<img src=x onerror=alert(1)>';
const REVERSED = 'invoice\u202egnp.exe';
const PATHS = [
  '/',
  '/activity',
  '/incidents',
  '/approvals',
  '/sessions',
  '/agents',
  '/agents?part=tools',
  '/detection',
  '/costs',
  '/policies',
  '/access',
  '/alerts',
  '/compliance',
  '/audit',
  '/settings',
  '/sessions/sess-1?tenant_id=acme',
  '/agents/support-bot',
];
const config = {
  policies: [
    {
      name: 'refunds-need-approval',
      boundary: 'action',
      action: 'require_approval',
      condition: { tools: ['issue_refund', MARKER] },
      reason: `Refunds need ${MARKER} an approver.`,
    },
  ],
};
let service: TestService;
let browser: Browser;

before(async () => {
  if (skip !== false) return;
  [service, browser] = await Promise.all([startTestService({ config, workers: 1 }), launchChromium()]);
  mkdirSync(SHOTS, { recursive: true });
  await seed();
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

async function post(
  path: string,
  body: object,
): Promise<{ decision: string; approval?: { request_id: string } }> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { decision: string; approval?: { request_id: string } };
}

function callTool(agentId: string, order: string, tenantId = 'acme', tool = 'issue_refund') {
  return post('/v1/intercept/tool', {
    tool,
    input: { order },
    agent_id: agentId,
    tenant_id: tenantId,
    session_id: 'sess-1',
  });
}

async function seed(): Promise<void> {
  const secret = ['sk-', 'ABCDEF1234567890'].join('');
  for (const agentId of ['support-bot', MARKER, REVERSED])
    await post('/v1/scan/input', {
      text: `Use key ${secret}`,
      agent_id: agentId,
      session_id: 'sess-1',
      tenant_id: 'acme',
    });
  await callTool('support-bot', 'A-1');
  await callTool(REVERSED, 'A-2', 'acme', MARKER);
  await post('/v1/scan/input', { text: 'hello', agent_id: 'globex-bot', tenant_id: 'globex' });
}

async function openPath(page: Page, path: string): Promise<void> {
  await page.goto(`${service.url}/dashboard${path}`);
  await page.locator('h1').waitFor();
  await page.waitForLoadState('networkidle');
}

test('each page opens in both themes and at both widths, without a serious fault of accessibility', {
  skip,
}, async () => {
  let pages = 0;
  const views = [
    { width: 1440, theme: 'light', paths: PATHS },
    { width: 390, theme: 'dark', paths: sampleRows(PATHS, 4) },
  ] as const;
  for (const view of views) {
    const user = { user_id: `admin-${view.theme}`, role: 'admin' };
    const { page, context, faults } = await signInToConsole(browser, service, user, view);
    for (const path of view.paths) {
      await openPath(page, path);
      assert.deepEqual(await findAccessibilityFaults(page), [], `${path} ${view.theme}`);
      const name = path.replaceAll(/\W+/g, '-').replace(/^-|-$/g, '') || 'overview';
      await page.screenshot({ path: join(SHOTS, `${name}-${view.width}-${view.theme}.png`) });
      pages++;
    }
    assert.deepEqual(faults, []);
    await context.close();
  }
  assert.equal(
    pages,
    views.reduce((sum, { paths }) => sum + paths.length, 0),
  );
});

test('hostile names of agents and tools and reasons stay text', { skip }, async () => {
  const user = { user_id: 'reader', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  for (const path of [
    '/',
    '/activity',
    '/incidents',
    '/approvals',
    '/sessions',
    '/agents',
    '/sessions/sess-1',
  ]) {
    await openPath(page, path);
    await page.getByText(MARKER).first().waitFor();
    assert.equal(await page.locator('img').count(), 0, path);
    const text = (await page.locator('main').textContent()) ?? '';
    assert.ok(!text.includes('\u202e'), path);
    assert.ok(text.includes('U+202E'), path);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test('the keyboard alone approves a request, and the waiting call continues', { skip }, async () => {
  const call = { tool: 'issue_refund', input: { order: 'K-1' }, agent_id: 'keyboard-bot', tenant_id: 'acme' };
  const waiting = await post('/v1/intercept/tool', call);
  const id = waiting.approval!.request_id;
  assert.equal(waiting.decision, 'block');
  const waits = fetch(`${service.url}/v1/approvals/${id}?wait=60s`);
  const user = { user_id: 'approver', role: 'approver', tenant: ['acme'] };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, `/approvals/${id}`);
  await page.getByRole('button', { name: 'Approve …' }).waitFor();
  let steps = 0;
  while ((await page.evaluate('document.activeElement.textContent')) !== 'Approve …') {
    await page.keyboard.press('Tab');
    assert.ok(++steps < 80, 'the Tab key reaches the button');
  }
  await page.keyboard.press('Enter');
  await page.keyboard.type('Checked with the customer.');
  // The choice of a scope, `Cancel`, and the button that approves.
  for (let step = 0; step < 3; step++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByText('Checked with the customer.').waitFor();
  assert.equal(
    ((await (await waits).json()) as { status: string }).status,
    'approved',
    'the waiting client is told at once',
  );
  const goesOn = { ...call, approval_request_id: id };
  assert.equal((await post('/v1/intercept/tool', goesOn)).decision, 'allow');
  assert.deepEqual(faults, []);
  await context.close();
});

testNightly('a viewer sees no button to decide, and gets 403 from the route', { skip }, async () => {
  const request = await callTool('viewer-bot', 'V-1');
  const user = { user_id: 'viewer', role: 'viewer', tenant: ['acme'] };
  const { page, context } = await signInToConsole(browser, service, user);
  await openPath(page, `/approvals/${request.approval!.request_id}`);
  await page.getByText('viewer-bot').first().waitFor();
  assert.equal(await page.getByRole('button', { name: /Approve|Deny/ }).count(), 0);
  const status = await page.evaluate(`(async () => {
    const { csrf_token } = await (await fetch('/v1/session')).json();
    const answer = await fetch('/v1/dashboard/approvals/${request.approval!.request_id}/approve', {
      method: 'POST', body: '{}', headers: { 'content-type': 'application/json', 'x-csrf-token': csrf_token } });
    return answer.status;
  })()`);
  assert.equal(status, 403);
  assert.equal((await callTool('viewer-bot', 'V-1')).decision, 'block');
  await context.close();
});

test('users of two tenants never see each other', { skip }, async () => {
  const rows = [
    { tenant: 'acme', sees: 'support-bot', misses: 'globex-bot' },
    { tenant: 'globex', sees: 'globex-bot', misses: 'support-bot' },
  ];
  for (const { tenant, sees, misses } of rows) {
    const user = { user_id: `auditor-${tenant}`, role: 'auditor', tenant: [tenant] };
    const { page, context } = await signInToConsole(browser, service, user);
    for (const path of ['/', '/activity', '/agents']) {
      await openPath(page, path);
      await page.getByText(sees).first().waitFor();
      assert.equal(await page.getByText(misses).count(), 0, `${tenant} ${path}`);
    }
    await openPath(page, `/agents/${misses}`);
    assert.equal(await page.getByText('sess-1').count(), 0);
    await context.close();
  }
  assert.equal(rows.length, 2);
});
