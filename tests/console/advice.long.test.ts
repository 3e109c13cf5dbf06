/** The advisors in the console: absent while none is configured, and text when one is. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { consoleSkipReason, launchChromium, signInToConsole } from '../support/console-browser.ts';
import { COMPLIANCE_GOOD, RECOMMEND_WEAKENING } from '../support/model-server/answers.ts';
import { MODEL, type ModelServer, startModelServer } from '../support/model-server/model-server.ts';
import { testNightly } from '../support/nightly.ts';
import { startTestService, type TestService } from '../support/service.ts';

const skip = consoleSkipReason;
const MARKER = '<img src=x onerror=alert(1)>';
/** Concatenated, so that no secret scanner of repositories reports it. */
const SECRET = ['sk-', 'ABCDEF1234567890abcd'].join('');

let browser: Browser;
let model: ModelServer;
let on: TestService;

before(async () => {
  if (skip !== false) return;
  model = await startModelServer(null);
  const backend = { provider: 'local', model: MODEL, base_url: model.url, retries: 0 };
  [on, browser] = await Promise.all([
    startTestService({ config: { intelligence: { enabled: true, backend } }, workers: 1 }),
    launchChromium(),
  ]);
});
after(async () => {
  await browser?.close();
  await on?.stop();
  model?.close();
});

async function block(service: TestService): Promise<string> {
  const response = await fetch(`${service.url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: `Use ${SECRET}` }),
  });
  return ((await response.json()) as { event_id: string }).event_id;
}

/** The buttons of the advisors. */
const PROPOSE = /^(?:Recommend|Propose rules)$/;
const EXPLAIN_OR_PROPOSE = /^(?:Explain|Recommend|Propose rules)$/;

test('a viewer asks for an explanation, and hostile text of a model stays text', { skip }, async () => {
  const eventId = await block(on);
  const user = { user_id: 'viewer-1', role: 'viewer' };
  const { page, context, faults } = await signInToConsole(browser, on, user);
  model.answerWith(`Category: other\nSeverity: low\n${MARKER}`);
  await page.goto(`${on.url}/dashboard/incidents/${eventId}`);
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText(MARKER).waitFor();
  assert.equal(await page.locator('img').count(), 0);
  for (const path of ['/policies', '/compliance']) {
    await page.goto(`${on.url}/dashboard${path}`);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.getByRole('button', { name: PROPOSE }).count(), 0, path);
  }
  assert.deepEqual(faults, []);
  assert.equal(model.questions.length, 1);
  await context.close();
});

test('a policy editor asks for proposals, and reads what they weaken', { skip }, async () => {
  const asked = model.questions.length;
  const user = { user_id: 'editor-1', role: 'policy_editor' };
  const { page, context, faults } = await signInToConsole(browser, on, user);
  model.answerWith(RECOMMEND_WEAKENING);
  await page.goto(`${on.url}/dashboard/policies`);
  await page.getByRole('button', { name: 'Recommend' }).click();
  await page.getByText('This proposal weakens the policy').waitFor();
  await page.getByText(/^\+ rule recommended-allow-secrets/).waitFor();
  await page
    .getByText(/^Recorded decisions of 7d: \d+ the same, \d+ stricter, \d+ less strict, \d+ unknown$/)
    .waitFor();
  model.answerWith({ status: 404 });
  await page.getByRole('button', { name: 'Recommend' }).click();
  await page.getByText('no model').waitFor();
  model.answerWith(COMPLIANCE_GOOD);
  await page.goto(`${on.url}/dashboard/compliance?framework=hipaa`);
  await page.getByRole('button', { name: 'Propose rules' }).click();
  await page.getByText('policies/compliance-hipaa.yaml').waitFor();
  assert.deepEqual(faults, []);
  assert.equal(model.questions.length - asked, 3);
  await context.close();
});

testNightly('without a configured layer there are no buttons', { skip }, async () => {
  const off = await startTestService({ config: {}, workers: 1 });
  const eventId = await block(off);
  const user = { user_id: 'editor-2', role: 'policy_editor' };
  const { page, context } = await signInToConsole(browser, off, user);
  for (const path of [`/incidents/${eventId}`, '/policies', '/compliance']) {
    await page.goto(`${off.url}/dashboard${path}`);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.getByRole('button', { name: EXPLAIN_OR_PROPOSE }).count(), 0, path);
  }
  await context.close();
  await off.stop();
});
