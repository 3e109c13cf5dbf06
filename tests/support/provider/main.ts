/** `scripts/run tests/support/provider/main.ts --port 0 --latency-ms 20`: a recorded provider as a process of its own. */
import { parseArgs } from 'node:util';
import { startProvider } from './provider.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'latency-ms': { type: 'string', default: '0' },
    'pause-ms': { type: 'string', default: '0' },
  },
});
const provider = await startProvider({
  port: Number(values.port),
  latency_ms: Number(values['latency-ms']),
  pause_ms: Number(values['pause-ms']),
  kept_max: 0,
});
// The parent process reads the URL from the first line.
console.log(provider.url);
