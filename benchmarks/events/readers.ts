/**
 * Reads the event stream as many clients at once, in its own process.
 *
 * Usage: node readers.ts <url> <readers> <groups>. Each reader subscribes to one of the agents `bench-0` to
 * `bench-<groups - 1>`. Prints `open` when all readers are connected. For each `count` on standard input,
 * prints the number of events so far and the number of dropped readers.
 */
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const [url = '', readers = '500', groups = '10'] = process.argv.slice(2);
let events = 0;
let dropped = 0;

async function open(index: number): Promise<void> {
  const socket = new WebSocket(
    `${url.replace(/^http/, 'ws')}/v1/ws/events?agent_id=bench-${index % Number(groups)}`,
    { perMessageDeflate: false, skipUTF8Validation: true },
  );
  socket.on('message', () => {
    events += 1;
  });
  socket.on('close', () => {
    dropped += 1;
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
}

for (let index = 0; index < Number(readers); index += 25)
  await Promise.all(
    Array.from({ length: Math.min(25, Number(readers) - index) }, (_, at) => open(index + at)),
  );
console.log('open');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'count') console.log(JSON.stringify({ events, dropped }));
}
process.exit(0);
