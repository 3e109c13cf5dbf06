/**
 * An operator in the browser: drafts of rules and contracts, the allowlist, approvals with a second factor, tokens, the kill
 * switch, and the sign-in at an OpenID provider.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import {
  consoleSkipReason,
  findFaultsInBothThemes,
  launchChromium,
  openConsole,
  signInToConsole,
} from '../support/console-browser.ts';
import { testNightly } from '../support/nightly.ts';
import { startOpenIdProvider } from '../support/openid-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const skip = consoleSkipReason;
/** Concatenated, so that no secret scanner of repositories reports it. */
const SECRET = ['sk-', 'ABCDEF1234567890'].join('');
const config = {
  policy: { undeclared_tools: 'allow', unknown_agents: 'allow' },
  policies: [
    {
      name: 'refunds-need-a-second-factor',
      boundary: 'action',
      condition: { tools: ['issue_refund'] },
      action: 'require_approval',
      approval: { require_second_factor: true },
      reason: 'A refund needs approval.',
    },
  ],
};
let service: TestService;
let browser: Browser;

before(async () => {
  if (skip !== false) return;
  [service, browser] = await Promise.all([startTestService({ config, workers: 1 }), launchChromium()]);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

interface CheckAnswer {
  readonly decision: string;
  readonly event_id: string;
  readonly approval?: { readonly request_id: string };
}

async function post(path: string, body: object): Promise<CheckAnswer> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as CheckAnswer;
}

const scanSecret = () => post('/v1/scan/input', { text: `Use key ${SECRET}`, agent_id: 'support-bot' });
const callRefund = (order: string, more: object = {}) =>
  post('/v1/intercept/tool', {
    ...{ tool: 'issue_refund', input: { order, amount: 12 }, agent_id: 'refund-bot' },
    ...more,
  });

async function openPath(page: Page, path: string): Promise<void> {
  await page.goto(`${service.url}/dashboard${path}`);
  await page.locator('h1').waitFor();
  await page.waitForLoadState('networkidle');
}

test('an incident leads to a rule in the policy editor, which compiles', { skip }, async () => {
  const { event_id } = await scanSecret();
  const user = { user_id: 'rule-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, `/incidents/${event_id}`);
  await page.getByRole('button', { name: 'Make a rule' }).click();
  await page.getByRole('button', { name: 'Open in the policy editor' }).click();
  await page.getByText('name: require-approval-input-').waitFor();
  await page.getByText('The document compiles').first().waitFor();
  await page.getByLabel('Why').fill('from an incident');
  await page.getByRole('button', { name: 'Save as a new version' }).click();
  await page.getByText('Version 1 is active').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('calls of a tool become a contract with the shape of its arguments, which compiles', {
  skip,
}, async () => {
  await callRefund('C-1');
  const user = { user_id: 'contract-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, '/agents?part=tools');
  await page
    .getByRole('row', { name: /issue_refund/ })
    .getByRole('button', { name: 'Write a contract' })
    .click();
  const draft = (await page.getByRole('region', { name: 'Draft of a contract' }).textContent()) ?? '';
  assert.match(draft, /^- tool_name: issue_refund\n/);
  assert.match(draft, /amount:\n {8}type: number/);
  assert.match(draft, /order:\n {8}type: string/);
  assert.ok(!draft.includes('C-1'), 'a draft holds no value of an argument');
  await page.getByRole('button', { name: 'Open in the policy editor' }).click();
  await page.getByText('tool_name: issue_refund').waitFor();
  await page.getByText('The document compiles').first().waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a found value is allowlisted for a time with a reason, and the entry is removed again', {
  skip,
}, async () => {
  const { event_id, decision } = await scanSecret();
  assert.equal(decision, 'block');
  const user = { user_id: 'allowlist-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, `/incidents/${event_id}`);
  await page.getByRole('button', { name: 'Allowlist …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Reason/).fill('a key of the test tenant');
  await dialog.getByLabel('Expires after').selectOption('1d');
  await dialog.getByRole('button', { name: 'Allowlist value' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.equal((await scanSecret()).decision, 'allow');
  await openPath(page, '/detection');
  const table = page.getByRole('table', { name: 'Allowlist' });
  await table.getByText('a key of the test tenant').waitFor();
  assert.ok(!((await page.locator('main').textContent()) ?? '').includes(SECRET));
  await table.getByRole('button', { name: 'Remove …' }).click();
  await dialog.getByRole('button', { name: 'Remove entry' }).click();
  await page.getByText('No value is allowlisted.').waitFor();
  assert.equal((await scanSecret()).decision, 'block');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a blocked call is allowed for a time, and revoked', { skip }, async () => {
  const runCommand = () =>
    post('/v1/intercept/tool', {
      tool: 'run_command',
      input: { command: 'git push --force origin main' },
      agent_id: 'coder',
    });
  const { event_id, decision } = await runCommand();
  assert.equal(decision, 'block');
  const user = { user_id: 'detector-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, `/incidents/${event_id}`);
  await page.getByText('Instead, for example:').waitFor();
  await page.getByRole('button', { name: 'Allow …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why').fill('the branch is mine');
  await dialog.getByLabel('Ends after').selectOption('7d');
  await dialog.getByRole('button', { name: 'Allow', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.equal((await runCommand()).decision, 'allow');
  await openPath(page, '/detection');
  const table = page.getByRole('table', { name: 'Allowed detectors' });
  await table.getByText('the branch is mine').waitFor();
  await table.getByRole('button', { name: 'Revoke …' }).click();
  await dialog.getByRole('button', { name: 'Revoke entry' }).click();
  await page.getByText('No detector is allowed.').waitFor();
  assert.equal((await runCommand()).decision, 'block');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a wrong decision becomes a test case to save', { skip }, async () => {
  const { event_id } = await post('/v1/intercept/tool', {
    tool: 'run_command',
    input: { command: `git push --force origin main # ${SECRET}` },
    agent_id: 'coder',
  });
  const user = { user_id: 'case-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, `/incidents/${event_id}`);
  await page.getByRole('button', { name: 'This was wrong' }).click();
  await page.getByLabel('Why').fill('the branch is mine');
  await page.getByRole('button', { name: 'Draft the case' }).click();
  await page.getByText('The case fails until the policy is changed.').waitFor();
  const text = (await page.getByRole('region', { name: 'Test case', exact: true }).textContent()) ?? '';
  assert.match(text, /decision: allow\n.*x-note: the branch is mine/s);
  assert.match(text, /git push --force origin main/);
  assert.ok(!text.includes(SECRET), text);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  assert.equal((await download).suggestedFilename(), `wrong-${event_id}.yaml`);
  assert.deepEqual(await findFaultsInBothThemes(page), []);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a tool call is tried and not made', { skip }, async () => {
  const user = { user_id: 'call-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, '/detection');
  const panel = page.locator('section', { hasText: 'Try a tool call' });
  await panel.getByLabel(/^Arguments/).fill('["ls"]');
  await panel.getByRole('button', { name: 'Decide on the call' }).click();
  await panel.getByText('The arguments are not a JSON object.').waitFor();
  await panel.getByLabel(/^Arguments/).fill('{"command": "git push --force origin main"}');
  await panel.getByRole('button', { name: 'Decide on the call' }).click();
  await panel.getByText('Instead, for example:').waitFor();
  await panel.getByText('builtin.dangerous.action.critical').waitFor();
  await panel.getByLabel(/^Arguments/).fill('{"command": "ls"}');
  await panel.getByRole('button', { name: 'Decide on the call' }).click();
  await panel.getByText('default.allow').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('an approval that needs a second factor waits for one, and many requests are denied at once', {
  skip,
}, async () => {
  const id = (await callRefund('F-1')).approval!.request_id;
  const others = await Promise.all([callRefund('F-2'), callRefund('F-3')]);
  const user = { user_id: 'factor-approver', role: 'approver' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  const dialog = page.getByRole('dialog');
  const approve = async () => {
    await page.getByRole('article', { name: id }).getByRole('button', { name: 'Approve …' }).click();
    await dialog.getByRole('button', { name: 'Approve the call' }).click();
  };
  await openPath(page, '/approvals?sort=expires');
  await page.getByRole('button', { name: 'Export' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: /rows as CSV$/ }).click();
  const csv = readFileSync(await (await saved).path(), 'utf8');
  assert.ok(csv.startsWith('request_id,status,') && csv.includes(id), csv);
  await approve();
  await dialog.getByText(/needs a second factor\. Set one up/).waitFor();
  assert.equal((await callRefund('F-1', { approval_request_id: id })).decision, 'block');

  await openPath(page, '/account');
  await page.getByRole('button', { name: 'Set up an app' }).click();
  const secret = ((await page.getByRole('region', { name: 'Secret' }).textContent()) ?? '').trim();
  await page.getByLabel('Code', { exact: true }).fill(new TOTP({ secret }).generate());
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('set up', { exact: true }).waitFor();

  await openPath(page, '/approvals');
  for (const other of others)
    await page.getByRole('checkbox', { name: `Select ${other.approval!.request_id}` }).check();
  await page.getByRole('button', { name: 'Deny selected …' }).click();
  await dialog.getByLabel('Note').fill('Not today.');
  await dialog.getByRole('button', { name: 'Deny 2 requests' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('article', { name: others[0]!.approval!.request_id }).waitFor({ state: 'detached' });

  await approve();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('article', { name: id }).waitFor({ state: 'detached' });
  assert.equal((await callRefund('F-1', { approval_request_id: id })).decision, 'allow');
  assert.equal(
    (await callRefund('F-2', { approval_request_id: others[0]!.approval!.request_id })).decision,
    'block',
  );
  assert.deepEqual(faults, []);
  await context.close();
});

test('a capability token is shown once and revoked, and the kill switch stops an agent', {
  skip,
}, async () => {
  const user = { user_id: 'token-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, '/access?part=tokens');
  await page.getByText('No capability token was issued yet.').waitFor();
  await page.getByRole('button', { name: 'Issue a token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Agent').fill('mail-bot');
  await dialog.getByLabel(/^Tool/).fill('send_email');
  await dialog.getByRole('button', { name: 'Issue token' }).click();
  const shown = page.getByRole('region', { name: 'Capability token', exact: true });
  assert.match((await shown.textContent()) ?? '', /^svc_cap_/);
  await page.reload();
  await page.getByRole('cell', { name: 'send_email' }).waitFor();
  assert.equal(await shown.count(), 0, 'the token is shown once');
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await dialog.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByText('revoked').first().waitFor();

  const check = () => post('/v1/scan/input', { text: 'hello', agent_id: 'mail-bot' });
  assert.equal((await check()).decision, 'allow');
  await openPath(page, '/agents/mail-bot');
  await page.getByRole('button', { name: 'Block the agent …' }).click();
  await dialog.getByLabel(/^Reason/).fill('sends too much');
  await dialog.getByRole('button', { name: 'Block the agent' }).click();
  await page.getByText('blocked this agent').waitFor();
  await until(async () => (await check()).decision === 'block', 'every worker blocks the agent');
  await page.getByRole('button', { name: 'Unblock the agent …' }).click();
  await dialog.getByRole('button', { name: 'Unblock the agent' }).click();
  await page.getByText('blocked this agent').waitFor({ state: 'detached' });
  await until(async () => (await check()).decision === 'allow', 'the agent acts again');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a table finds rows by words, which are in the address, and says when there are none', {
  skip,
}, async () => {
  const user = { user_id: 'find-admin', role: 'admin' };
  const { page, context, faults } = await signInToConsole(browser, service, user);
  await openPath(page, '/policies?find_rules=secret+output');
  await page.getByText(/^1 of \d+ rows$/).waitFor();
  await page.getByRole('cell', { name: 'builtin.secret.output' }).waitFor();
  await page.getByRole('searchbox', { name: 'Find in Active rules' }).fill('no such rule');
  await page.getByText('No row has this text.').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('find_rules'), 'no such rule');
  assert.deepEqual(faults, []);
  await context.close();
});

/** Returns a free port, because the provider must know the address of the service beforehand. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

testNightly(
  'a user signs in at an OpenID provider, returns to a deep link, and signs out there too',
  {
    skip,
  },
  async (t) => {
    const port = await findPort();
    const origin = `http://localhost:${port}`;
    const client = { id: 'console', secret: ['a', 'secret', 'for', 'tests'].join('-') };
    const provider = await startOpenIdProvider(t, { ...client, origin });
    Object.assign(provider.claims, {
      email: 'ann@example.com',
      email_verified: true,
      groups: ['admins'],
      tenants: 'all',
    });
    const oidc = {
      issuer: provider.issuer,
      client_id: client.id,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own form.
      client_secret: '${OIDC_SECRET}',
      role_mapping: { admins: 'admin' },
      tenant_mapping: { all: '*' },
    };
    const own = await startTestService({
      config: { server: { port }, auth: { oidc } },
      env: { OIDC_SECRET: client.secret },
      workers: 1,
    });
    t.after(() => own.stop());
    const { page, context, faults } = await openConsole(browser);
    await page.goto(`${origin}/dashboard/settings?part=drivers`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.locator('a[href^="/v1/auth/oidc/start"]').click();
    await page.getByRole('heading', { name: 'Settings and health' }).waitFor();
    assert.match(page.url(), /\/dashboard\/settings\?part=drivers$/);
    await page.getByText('ann@example.com').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL((url) => url.origin === provider.issuer);
    assert.match(page.url(), /\/session\/end\?/);
    assert.equal((await fetch(`${origin}/v1/session`)).status, 401);
    assert.deepEqual(faults, []);
    await context.close();
  },
);
