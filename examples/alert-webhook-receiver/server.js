// Prints alerts: `ALERT_SECRET=... PORT=9000 node server.js`. The service's setting is `url: http://127.0.0.1:9000/`.
import { createServer } from 'node:http';
import { openReceiver } from './index.js';

const BODY_BYTES_MAX = 1_048_576;
const { ALERT_SECRET = '', PORT = '9000' } = process.env;

const receive = openReceiver({
  secret: ALERT_SECRET,
  onAlert: ({ type, data }) =>
    console.log(JSON.stringify({ type, rule: data.rule_id, summary: data.summary })),
});

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request);
    const { status, reason } = await receive(request.headers, body);
    if (status >= 400) console.error(`refused: ${reason}`);
    response.writeHead(status).end();
  } catch {
    // The sender tries again later.
    response.writeHead(500).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));

async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('The body is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
