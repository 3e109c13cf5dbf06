import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StartFailure } from '../platform/failure.ts';
import type { Config } from '../runtime/config/index.ts';
import { requireTelemetry, TELEMETRY_PACKAGES } from './telemetry.ts';

function buildConfig(enabled: boolean): Pick<Config, 'telemetry' | 'origin'> {
  return {
    telemetry: { enabled } as Config['telemetry'],
    origin: { file: null, label: 'service.yaml', base_dir: '/' },
  };
}

test('a start with telemetry names the packages that are missing, and how to get them', () => {
  const isInstalled = (name: string): boolean => name !== '@opentelemetry/sdk-trace';
  assert.throws(
    () => requireTelemetry(buildConfig(true), isInstalled),
    (failure: unknown) =>
      failure instanceof StartFailure &&
      failure.code === 'config_invalid' &&
      failure.message.includes("`npm install '@opentelemetry/sdk-trace@^3.1.0'`") &&
      failure.problems[0]?.path === 'telemetry.enabled',
  );
});

test('names the tested versions, and makes no package a peer', () => {
  const { devDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
  );
  assert.equal(peerDependencies, undefined);
  for (const [name, range] of Object.entries(TELEMETRY_PACKAGES))
    assert.equal(range, `^${devDependencies[name]}`, name);
});

test('nothing is missing where telemetry is off, nor where all is there', () => {
  requireTelemetry(buildConfig(false), () => false);
  requireTelemetry(buildConfig(true));
});
