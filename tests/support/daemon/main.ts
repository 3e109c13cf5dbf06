/** Starts a daemon with a short idle time: `node main.ts IDLE_MS`, in the folder that it serves. */
import { dispatch } from '../../../src/entry/hook/dispatch.ts';
import { startDaemon } from '../../../src/server/start.ts';

const request = { path: null, env: process.env, cwd: process.cwd() };
const idleMs = Number(process.argv[2]);
const service = await startDaemon({ request, dispatch, version: 'short', idle_ms: idleMs });
await service.ended;
