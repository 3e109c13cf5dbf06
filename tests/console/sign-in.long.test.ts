/** The console in a real browser: sign-in with a one-time link, deep links, themes, and what a viewer may not do. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import {
  consoleSkipReason,
  launchChromium,
  openConsole,
  signInToConsole,
} from '../support/console-browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

const skip = consoleSkipReason;
let service: TestService;
let browser: Browser;

before(async () => {
  if (skip !== false) return;
  [service, browser] = await Promise.all([startTestService({ workers: 1 }), launchChromium()]);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

test('a user sets a password with the link, signs out, and comes back to a deep link', { skip }, async () => {
  const { page, context, faults } = await signInToConsole(browser, service, {
    user_id: 'ann',
    role: 'admin',
  });
  assert.equal(new URL(page.url()).hash, '', 'the secret of the link has left the address bar');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();

  await page.goto(`${service.url}/dashboard/sessions/sess-1?tenant_id=acme`);
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  assert.match(await page.getByRole('alert').innerText(), /wrong.*code unauthenticated.*request req_/s);
  assert.equal(await page.getByLabel('User').inputValue(), 'ann', 'the error keeps what was typed');
  await page.getByLabel('Password').fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Session', exact: true }).waitFor();
  assert.match(page.url(), /\/dashboard\/sessions\/sess-1\?tenant_id=acme$/);

  await page.getByLabel('Theme').selectOption('dark');
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.reload();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a page outside is never the target after the sign-in', { skip }, async () => {
  const targets = ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)'];
  for (const target of targets) {
    const { page, context, faults } = await openConsole(browser);
    await page.goto(`${service.url}/dashboard/sign-in?to=${encodeURIComponent(target)}`);
    await page.getByLabel('User').fill('ann');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(page.url()).origin, service.url, target);
    assert.deepEqual(faults, []);
    await context.close();
  }
  assert.equal(targets.length, 4);
});

test('a passkey signs in without a password, and is the second factor after one', { skip }, async () => {
  // A passkey belongs to a host name, and an address is none.
  const url = service.url.replace('127.0.0.1', 'localhost');
  const user = { user_id: 'passkey-user', role: 'approver' };
  const { page, context, faults } = await signInToConsole(browser, { ...service, url }, user);
  // Chromium's own authenticator, which answers as a person with a fingerprint does.
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(`${url}/dashboard/account`);
  await page.getByLabel('Name of the new passkey').fill('laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();

  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.locator('main#page h1').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();

  await page.getByLabel('User').fill('passkey-user');
  await page.getByLabel('Password').fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.locator('main#page h1').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});
