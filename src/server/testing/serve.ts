/** Runs `startService` with the test's own worker; prints one line of JSON when it listens. */
import { StartFailure, startService } from '../start.ts';

try {
  const service = await startService({
    request: { path: null, env: process.env, overrides: { port: 0, workers: Number(process.argv[2] ?? 2) } },
    worker_url: new URL('worker.ts', import.meta.url),
    dispatch: {
      judgeHook: async () => [],
      parseFollowRequest: async () => Promise.reject(new Error('no test follows')),
      callOperation: async (operation, input, { caller, runtime }) => {
        if (operation === 'policies_reload') return runtime.reload(caller);
        return { operation, input, caller_id: caller.id };
      },
    },
    version: '1.2.3',
  });
  const { port, warnings } = service;
  process.stdout.write(`${JSON.stringify({ port, warnings, ...service.status() })}\n`);
  process.exitCode = await service.ended;
} catch (failure) {
  if (!(failure instanceof StartFailure)) throw failure;
  const { code, message, problems } = failure;
  process.stdout.write(`${JSON.stringify({ failure: { code, message, problems } })}\n`);
  process.exitCode = 2;
}
