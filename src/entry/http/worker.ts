/**
 * The main module of a worker: one of several processes that the service forks and that listen on the same address. It
 * opens the runtime, serves HTTP, and answers requests in flight before it exits.
 */
import type { FastifyListenOptions } from 'fastify';
import { compileValidators } from '../../operations/call.ts';
import { buildBrowserCheck } from '../../runtime/access/browser.ts';
import { openAuthenticator } from '../../runtime/access/index.ts';
import { operations } from '../../server/operations.ts';
import { runWorker } from '../../server/worker.ts';
import { warmLlm } from '../llm/index.ts';
import { drainConnections } from './drain.ts';
import { buildHttp } from './server.ts';

runWorker(async ({ runtime, llm, config, api_keys, host, port, log }) => {
  const { cors_origins, public_url } = config.server;
  const { trusted_proxies } = config.auth;
  const checkBrowser = buildBrowserCheck({ public_url, host, cors_origins, trusted_proxies });
  const authenticate = openAuthenticator({
    auth: config.auth,
    api_keys,
    host,
    cors_origins,
    sessions: { check: checkBrowser, find: runtime.identifyUser },
    proxy_identity: config.dashboard.proxy_identity,
    state_dir: config.state_dir,
    now_ms: Date.now,
  });
  const app = await buildHttp({
    ...{ runtime, llm, config, authenticate, checkBrowser, log },
    onAccessChange: api_keys.onChange,
  });
  const address: FastifyListenOptions & { reusePort: true } = { host, port, reusePort: true };
  await app.listen(address);
  const { target, providers } = config.proxy;
  const callsModels = target !== undefined || providers.length > 0;
  return {
    close: () => drainConnections(app),
    warm: async () => {
      await compileValidators(operations.filter(({ counts_checks }) => counts_checks === true));
      if (callsModels) await warmLlm(llm);
    },
  };
});
