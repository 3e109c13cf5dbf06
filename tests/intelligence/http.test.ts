/** The advisory layer over HTTP: a real service, and a model server on loopback. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ApiClient, openApiClient } from '../support/api-client.ts';
import {
  AUTO_CONFIG_GOOD,
  COMPLIANCE_GOOD,
  INCIDENT_CHATTY,
  INCIDENT_GOOD,
  INTEGRATION_GOOD,
  RECOMMEND_GOOD,
  RECOMMEND_MALFORMED,
  RECOMMEND_WEAKENING,
} from '../support/model-server/answers.ts';
import {
  MODEL,
  MODEL_KEY,
  type ModelServer,
  startModelServer,
} from '../support/model-server/model-server.ts';
import { isNightly } from '../support/nightly.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Concatenated, so that no secret scanner of repositories reports it. */
const SECRET = ['sk-', 'ABCDEF1234567890abcd'].join('');

const PROVIDERS = ['local', 'compatible-api'] as const;

for (const provider of PROVIDERS) {
  describe(`a back end of the kind ${provider}`, () => {
    let model: ModelServer;
    let service: TestService;
    let ask: ApiClient;
    let eventId = '';
    /** Declares a test for one back end, because it depends on none; the nightly round runs it for each. */
    const testOnce = (name: string, work: () => Promise<void>): void => {
      if (isNightly || provider === PROVIDERS[0]) void test(name, work);
    };
    before(async () => {
      model = await startModelServer(null, [INCIDENT_GOOD], provider === 'local' ? {} : { key: MODEL_KEY });
      service = await startTestService({
        config: {
          scan: { file_roots: ['.'] },
          paths: { identity_files: ['agents/*.yaml'] },
          intelligence: {
            enabled: true,
            backend: {
              provider,
              model: MODEL,
              base_url: provider === 'local' ? model.url : `${model.url}/v1`,
              ...(provider === 'compatible-api' && { api_key_env: 'ADVISOR_KEY' }),
              retries: 0,
            },
          },
        },
        files: { 'app/tools.py': '@tool\ndef wipe_disk(): ...\n' },
        env: { ADVISOR_KEY: MODEL_KEY },
      });
      ask = openApiClient(service);
      const scanned = await ask('/v1/scan/input', {
        body: { text: `Use ${SECRET}`, agent_id: `bot ${SECRET}`, session_id: 'sess-jane.doe@corp.io' },
      });
      assert.equal(scanned.body.decision, 'block');
      eventId = scanned.body.event_id;
    });
    after(async () => {
      await service.stop();
      model.close();
    });

    test('status names the back end and the model', async () => {
      const { status, body } = await ask('/v1/intelligence/status');
      assert.deepEqual(
        [status, body],
        [200, { enabled: true, backend: provider, model: MODEL, timeout_seconds: 120 }],
      );
    });

    test('an event is explained from metadata, and the call is in the audit log', async () => {
      model.answerWith(INCIDENT_GOOD);
      const routes = [
        { path: '/v1/intelligence/explain' },
        { path: '/v1/dashboard/intelligence/explain', as: { user: 'viewer' } },
      ];
      for (const { path, as } of routes) {
        const { status, body } = await ask(path, { body: { event_id: eventId }, ...(as && { as }) });
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(body.advisor_name, 'incident');
        assert.equal(body.status, 'success');
        assert.equal(body.model_used, MODEL);
        assert.equal(body.raw_response, INCIDENT_GOOD);
        assert.deepEqual(body.artifacts, {});
        assert.deepEqual(
          [body.metadata.category, body.metadata.severity, body.metadata.event_id],
          ['secret-exposure', 'high', eventId],
        );
      }
      const { path, prompt, authorization, body } = model.questions.at(-1)!;
      assert.equal(path, provider === 'local' ? '/api/chat' : '/v1/chat/completions');
      assert.equal(authorization, provider === 'local' ? null : `Bearer ${MODEL_KEY}`);
      assert.equal(body.stream, false);
      for (const planted of [SECRET, 'jane.doe', eventId, 'bot sk-'])
        assert.ok(!prompt.includes(planted), planted);
      assert.match(prompt, /"agent": "agent-1"/);
      assert.match(prompt, /"secret\.credential/);
      const calls = await ask('/v1/audit/query', {
        body: { policy_name: 'service.advisor_call', limit: 10 },
      });
      assert.equal(calls.body.count, 2);
      const { metadata, caller_id } = calls.body.events[0];
      assert.equal(caller_id, 'user:viewer');
      assert.deepEqual(
        [
          metadata.advisor,
          metadata.status,
          metadata.about_event_id,
          metadata.input_tokens,
          metadata.output_tokens,
        ],
        ['incident', 'success', eventId, 812, 241],
      );
      assert.ok(
        !JSON.stringify(calls.body).includes('A developer pasted'),
        'no text of the model is recorded',
      );
    });

    test('a chatty answer is understood', async () => {
      model.answerWith(INCIDENT_CHATTY);
      const { body } = await ask('/v1/intelligence/explain', { body: { event_id: eventId } });
      assert.deepEqual([body.metadata.category, body.metadata.severity], ['prompt-injection', 'critical']);
      assert.ok(!body.summary.includes('The user wants me to classify'));
    });

    testOnce('recommendations are compiled, linted and replayed', async () => {
      model.answerWith(RECOMMEND_GOOD);
      const { status, body } = await ask('/v1/intelligence/recommend', { body: { since: '7d' } });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(Object.keys(body.artifacts), ['policies/recommended-cards.yaml']);
      const { together } = body.metadata.review;
      assert.equal(together.weakens, false);
      assert.ok(together.changes.some((line: string) => line.startsWith('+ rule recommended-redact-cards')));
      assert.ok(together.replay.same >= 1);
      assert.ok(body.metadata.total_events >= 1);
    });

    testOnce('a proposal that weakens the policy says what it would allow', async () => {
      model.answerWith(RECOMMEND_WEAKENING);
      const { status, body } = await ask('/v1/intelligence/recommend', { body: {} });
      assert.equal(status, 200, JSON.stringify(body));
      const { together } = body.metadata.review;
      assert.equal(together.weakens, true);
      assert.ok(together.lets_through.some((line: string) => line.includes('secret')));
      assert.ok(together.replay.less_strict >= 1, 'the recorded block would be allowed');
    });

    testOnce('an answer that does not compile is sent back once, and is an error after that', async () => {
      const before = model.questions.length;
      model.answerWith(RECOMMEND_MALFORMED, RECOMMEND_GOOD);
      const mended = await ask('/v1/intelligence/recommend', { body: {} });
      assert.equal(mended.status, 200, JSON.stringify(mended.body));
      assert.equal(mended.body.metadata.attempts, 2);
      assert.equal(model.questions.length - before, 2);
      assert.match(model.questions.at(-1)!.prompt, /cannot be used/);
      model.answerWith(RECOMMEND_MALFORMED);
      const refused = await ask('/v1/intelligence/recommend', { body: {} });
      assert.equal(refused.status, 502);
      assert.equal(refused.body.status, 'error');
      assert.equal(refused.body.code, 'upstream_failed');
      assert.deepEqual(refused.body.artifacts, {});
      assert.ok(refused.body.metadata.problems.length > 0);
      assert.equal(model.questions.length - before, 4);
    });

    testOnce('the other advisors answer', async () => {
      model.answerWith(COMPLIANCE_GOOD);
      const compliance = await ask('/v1/intelligence/compliance', { body: { framework: 'HiPaA' } });
      assert.equal(compliance.status, 200, JSON.stringify(compliance.body));
      assert.equal(compliance.body.metadata.framework, 'hipaa');
      assert.deepEqual(Object.keys(compliance.body.artifacts), ['policies/compliance-hipaa.yaml']);
      const documents = AUTO_CONFIG_GOOD.replace(/--- FILE: service\.yaml ---[\s\S]*?(?=--- FILE)/, '');
      model.answerWith(documents);
      const project = {
        tools: [{ name: 'send_email', parameters: ['to', 'body'] }, { name: 'delete_user' }],
      };
      const configured = await ask('/v1/intelligence/auto-config', { body: { project } });
      assert.equal(configured.status, 200, JSON.stringify(configured.body));
      assert.deepEqual(Object.keys(configured.body.artifacts), [
        'policies/generated.yaml',
        'contracts/tools.yaml',
        'agents/agents.yaml',
      ]);
      assert.ok(!model.questions.at(-1)!.prompt.includes('wipe_disk'));
      assert.equal((await ask('/v1/intelligence/auto-config', { body: { path: 'app' } })).status, 200);
      assert.match(model.questions.at(-1)!.prompt, /wipe_disk/);
      model.answerWith(INTEGRATION_GOOD);
      const integrated = await ask('/v1/intelligence/integrate', { body: { target: 'LangChain', project } });
      assert.equal(integrated.status, 200, JSON.stringify(integrated.body));
      assert.deepEqual(Object.keys(integrated.body.artifacts), [
        'service_langchain.py',
        'service_integration.py',
      ]);
      assert.deepEqual(integrated.body.metadata.syntax, {
        'service_langchain.py': 'parsed',
        'service_integration.py': 'parsed',
      });
      assert.match(model.questions.at(-1)!.prompt, /service_langchain\.py/);
    });

    testOnce('wrong input is refused, and an unknown event is 404', async () => {
      const rows: readonly [string, object, number, string][] = [
        ['explain', { event_id: 'evt_000000000000000000000000' }, 404, 'not_found'],
        ['explain', {}, 400, 'invalid_request'],
        ['recommend', { since: 'yesterday' }, 400, 'invalid_request'],
        ['compliance', { framework: 'iso27001' }, 400, 'invalid_request'],
        ['integrate', { target: 'cobol' }, 400, 'invalid_request'],
        ['auto-config', {}, 400, 'invalid_request'],
        ['auto-config', { project: {} }, 400, 'invalid_request'],
        ['auto-config', { path: '/etc' }, 404, 'not_found'],
        ['auto-config', { path: 'app/../../..' }, 404, 'not_found'],
        ['auto-config', { path: '.service' }, 404, 'not_found'],
      ];
      const before = model.questions.length;
      for (const [name, body, status, code] of rows) {
        const answer = await ask(`/v1/intelligence/${name}`, { body });
        assert.deepEqual([answer.status, answer.body.code], [status, code], name);
      }
      assert.equal(model.questions.length, before, 'nothing was sent');
    });

    test('the text of a model reaches no log and no journal', () => {
      const journal = join(service.state_dir, 'journal');
      const files = readdirSync(journal, { recursive: true, withFileTypes: true }).filter((each) =>
        each.isFile(),
      );
      const text = files.map((each) => readFileSync(join(each.parentPath, each.name), 'utf8')).join('');
      assert.ok(files.length > 0 && text.includes('advisor_call'));
      for (const said of ['A developer pasted', 'Secrets are fine', 'Card numbers do not leave'])
        assert.ok(!text.includes(said) && !service.logs().includes(said), said);
    });
  });
}
