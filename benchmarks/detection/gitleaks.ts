/** Runs gitleaks, with its own rules and allow-lists, on the files of a folder. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/**
 * Returns the files among `paths`, which are below a folder, in which gitleaks finds a secret. It reads copies at the
 * same places below another folder, because its allow-lists know paths, and only those, because a package can hold many
 * more.
 */
export function findWithGitleaks(
  program: string,
  folder: string,
  paths: readonly string[],
): ReadonlySet<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'gitleaks-'));
  const report = join(scratch, 'report.json');
  const copies = join(scratch, 'files');
  try {
    for (const path of paths) {
      const copy = join(copies, relative(folder, path));
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(path, copy);
    }
    const flags = ['--no-banner', '--log-level', 'error', '--exit-code', '0', '--max-target-megabytes', '1'];
    execFileSync(program, ['dir', ...flags, '--report-format', 'json', '--report-path', report, copies]);
    const found = JSON.parse(readFileSync(report, 'utf8')) as readonly { readonly File: string }[];
    return new Set(found.map(({ File }) => join(folder, relative(copies, File))));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
