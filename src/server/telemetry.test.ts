import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartFailure } from '../platform/failure.ts';
import type { Config } from '../runtime/config/index.ts';
import { requireTelemetry } from './telemetry.ts';

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
      failure.message.includes('`npm install @opentelemetry/sdk-trace`') &&
      failure.problems[0]?.path === 'telemetry.enabled',
  );
});

test('nothing is missing where telemetry is off, nor where all is there', () => {
  requireTelemetry(buildConfig(false), () => false);
  requireTelemetry(buildConfig(true));
});
