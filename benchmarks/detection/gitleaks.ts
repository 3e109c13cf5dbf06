/** Runs gitleaks, with its own rules and allow-lists, on a folder. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the files below a folder in which gitleaks finds a secret. */
export function findWithGitleaks(program: string, folder: string): ReadonlySet<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'gitleaks-'));
  const report = join(scratch, 'report.json');
  try {
    const flags = ['--no-banner', '--log-level', 'error', '--exit-code', '0', '--max-target-megabytes', '1'];
    execFileSync(program, ['dir', ...flags, '--report-format', 'json', '--report-path', report, folder]);
    const found = JSON.parse(readFileSync(report, 'utf8')) as readonly { readonly File: string }[];
    return new Set(found.map(({ File }) => File));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
