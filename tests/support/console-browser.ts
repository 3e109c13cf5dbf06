/** Chromium with the console of a running service, for tests of its pages. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { TestService } from './service.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const PASSWORD = 'correct horse battery staple';

/** The reason why the tests of the console cannot run here; `false` if they can. */
export const consoleSkipReason: string | false = findSkipReason();

function findSkipReason(): string | false {
  if (findChromium() === undefined) return 'chromium is not installed (apt-get install chromium)';
  const built = resolve(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html');
  return existsSync(built) ? false : 'the console is not built (npm run console)';
}

function findChromium(): string | undefined {
  return PLACES.find((path) => existsSync(path));
}

/** Starts Chromium. The caller closes it. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is not installed.');
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface ConsoleUser {
  readonly user_id: string;
  readonly role: string;
  readonly tenant?: readonly string[];
}

/** Adds a user with the operator token, and returns the path of the page where the user sets a password. */
export async function addConsoleUser(
  service: Pick<TestService, 'url' | 'state_dir'>,
  user: ConsoleUser,
): Promise<string> {
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const response = await fetch(`${service.url}/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: user.user_id, role: [user.role], tenant: user.tenant ?? ['*'] }),
  });
  const answer = (await response.json()) as { link?: string };
  if (answer.link === undefined) throw new Error(`no user was added: ${JSON.stringify(answer)}`);
  const { pathname, hash } = new URL(answer.link);
  return `${pathname}${hash}`;
}

/** A page of the console, with what went wrong in it so far. */
export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts and violations of the content security policy. */
  readonly faults: readonly string[];
}

export interface ConsolePageOptions {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
}

/** Opens a page in a profile of its own. */
export async function openConsole(browser: Browser, options: ConsolePageOptions = {}): Promise<ConsolePage> {
  const { width = 1440, theme = 'light' } = options;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/i.test(message.text())) faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`a script opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, context, faults };
}

/** Adds a user and signs in as that user, as a person does: with the link, in the browser. */
export async function signInToConsole(
  browser: Browser,
  service: Pick<TestService, 'url' | 'state_dir'>,
  user: ConsoleUser,
  options: ConsolePageOptions = {},
): Promise<ConsolePage> {
  const opened = await openConsole(browser, options);
  const link = await addConsoleUser(service, user);
  await opened.page.goto(`${service.url}${link}`);
  await opened.page.getByLabel(/^New password, at least/).fill(PASSWORD);
  await opened.page.getByLabel('New password again').fill(PASSWORD);
  await opened.page.getByRole('button', { name: 'Set password and sign in' }).click();
  await opened.page.locator('main#page h1').waitFor();
  return opened;
}

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Returns the findings of axe on a part of the page as it is: impact, rule and element. */
export async function runAxe(page: Page, part = 'html', rules?: readonly string[]): Promise<string[]> {
  // Through the debugger, because the policy of the page allows no script of another origin.
  await page.evaluate(readFileSync(AXE_FILE, 'utf8'));
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) };
  return await page.evaluate(
    `axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ impact, id, nodes }) => impact + ' ' + id + ' ' + nodes[0].html))`,
  );
}

/** Returns the serious findings of axe on the page as it is. */
export async function findAccessibilityFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  return (await runAxe(page, 'html', rules)).filter((line) => /^(?:serious|critical) /.test(line));
}

/**
 * Returns the serious findings of axe on a light page, and then on the same page in the dark theme, which differs in its
 * colors alone. The page is light again afterwards.
 */
export async function findFaultsInBothThemes(page: Page): Promise<string[]> {
  const light = await findAccessibilityFaults(page);
  await showTheme(page, 'dark');
  const dark = await findAccessibilityFaults(page, ['color-contrast']);
  await showTheme(page, 'light');
  return [...light, ...dark.map((line) => `dark: ${line}`)];
}

/** Changes the preference of the operating system, which the page follows. */
export async function showTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.locator(`html[data-theme="${theme}"]`).waitFor();
}
