import { execFile } from 'node:child_process';
import { access, constants, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const PRINT_MS_MAX = 120_000;

/** Returns the path of a Chromium: `$CHROMIUM`, or the first one on the path; `null` if there is none. */
export async function findChromium(env: NodeJS.ProcessEnv): Promise<string | null> {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  const named = env.CHROMIUM === undefined || env.CHROMIUM === '' ? [] : [env.CHROMIUM];
  for (const path of [...named, ...BROWSERS.flatMap((name) => folders.map((folder) => join(folder, name)))])
    if (await isExecutable(path)) return path;
  return null;
}

async function isExecutable(path: string): Promise<boolean> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  return (
    isFile &&
    (await access(path, constants.X_OK).then(
      () => true,
      () => false,
    ))
  );
}

/** Prints an HTML page to a PDF file by the print style of a browser. Rejects if the browser fails. */
export async function printPdf(browser: string, html: string, target: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'compliance-pdf-'));
  try {
    const page = join(folder, 'report.html');
    await writeFile(page, html);
    // The page is our own and has no scripts. Chromium as root refuses to start with its sandbox.
    const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    await run(
      browser,
      [
        '--headless',
        '--disable-gpu',
        ...asRoot,
        `--user-data-dir=${join(folder, 'profile')}`,
        '--no-pdf-header-footer',
        `--print-to-pdf=${target}`,
        pathToFileURL(page).href,
      ],
      { timeout: PRINT_MS_MAX },
    );
    await stat(target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
