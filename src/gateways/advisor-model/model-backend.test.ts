import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openModelBackend } from './model-backend.ts';

const settings = (baseUrl: string) => ({
  enabled: true,
  budget: { calls_per_day: 1, tokens_per_day: 1_000, answer_tokens_max: 10 },
  backend: { provider: 'local' as const, base_url: baseUrl, model: 'm', timeout_seconds: 5, retries: 0 },
});

test('link-local and metadata addresses are no model servers', () => {
  const addresses = [
    ...['169.254.169.254', '[::ffff:a9fe:a9fe]', '[fe80::1]', '[fd00:ec2::254]', '2852039166'],
    ...['metadata.google.internal', 'METADATA.google.internal.', '169.254.1.1', '100.100.100.200'],
  ];
  for (const host of addresses)
    assert.throws(
      () => openModelBackend(settings(`http://${host}/v1`), {}),
      { name: 'ModelFailure', code: 'no_backend' },
      host,
    );
  // Negative control: local servers are the usual backends.
  for (const host of ['127.0.0.1:11434', '10.0.0.5', 'models.example.com'])
    assert.doesNotThrow(() => openModelBackend(settings(`http://${host}/v1`), {}), host);
});
