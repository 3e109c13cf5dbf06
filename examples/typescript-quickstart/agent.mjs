/** A guard in process, without any configuration and without a framework. */
import assert from 'node:assert/strict';
import { BlockedError, quickstart } from 'customshouse/sdk';

const guard = quickstart();
let ran = 0;
const sendMail = async ({ to }) => {
  ran += 1;
  return `Sent to ${to}.`;
};

// The arguments hold a secret, so the call is blocked and the tool does not run.
const call = guard.run('send_mail', { to: 'team', body: 'Use key sk-ABCDEF1234567890' }, sendMail);
await assert.rejects(call, BlockedError);
assert.equal(ran, 0);

// Without it the tool runs, and an address in its result is masked.
assert.equal(await guard.run('send_mail', { to: 'team', body: 'Hello' }, sendMail), 'Sent to team.');
const { modified_text } = await guard.output('Mail jane.doe@corp-mail.io for details.');
assert.equal(modified_text, 'Mail [REDACTED] for details.');
await guard.close();
console.log(`The secret was blocked and the tool did not run. The decisions are in ${guard.journal_path}`);
