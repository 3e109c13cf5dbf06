/** A program with a local guard that reports to a service. Its options are in `REPORT`, its checks in `CHECKS`. */
import { createLocalGuard, type ReportOptions } from '../../src/sdk/index.ts';

const report = JSON.parse(process.env.REPORT ?? '{}') as ReportOptions;
const guard = createLocalGuard({ report, session_id: 's-1' });
const ids: (string | null)[] = [];
for (let number = 0; number < Number(process.env.CHECKS); number++) {
  const { decision, event_id } = await guard.tool('look_up', { number });
  ids.push(decision === 'block' ? null : event_id);
}
console.log(JSON.stringify(ids));
if (process.env.ENDING === 'kill') process.kill(process.pid, 'SIGKILL');
if (process.env.ENDING === 'exit') process.exit();
if (process.env.ENDING === 'close') await guard.close();
