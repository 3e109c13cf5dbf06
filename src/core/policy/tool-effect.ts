/** The effect that the name of a tool announces. */
export type ToolEffect = 'reads' | 'writes' | 'unknown';

const READING = new Set(
  'browse calculate check compare convert count describe download explain fetch find get grep head inspect list load look lookup open peek preview query read recall retrieve scan scrape search see select show stat status summarize tail verify view watch'.split(
    ' ',
  ),
);

const WRITING = new Set(
  'accept add allow append apply approve archive assign attach ban block book buy call cancel change charge clear click close comment commit complete confirm copy create deactivate delete deny deploy disable drop edit email enable exec execute export fill forget fork format give grant import insert install invite issue join kill label launch lock make mark merge message modify move mute notify order pay pin place play post prepare press publish purchase push put rebook reboot refund register reject release remove rename replace reply reschedule reserve reset resolve restart restore revoke rotate run save schedule send set share sign start stop store subscribe submit sync tag terminate ticket transfer trigger type unassign unblock uninstall unlock unpin unsubscribe update upload upsert vote wire withdraw write'.split(
    ' ',
  ),
);

/**
 * Reads the effect of a tool from the words of its name: the first that is a known verb decides, so that
 * `get_unread_emails` reads and `send_message` writes. A name that reads and also writes (`find_and_replace`) writes.
 * @param toolName as in a call: `send_money`, `sendMoney`, `mcp__bank__send-money`
 */
export function readToolEffect(toolName: string): ToolEffect {
  const words = splitToolName(toolName);
  const first = words.find((word) => READING.has(word) || WRITING.has(word));
  if (first === undefined) return 'unknown';
  const joined = words.indexOf('and') + 1;
  return WRITING.has(first) || (joined > 0 && WRITING.has(words[joined] ?? '')) ? 'writes' : 'reads';
}

/**
 * Splits a name into lower-case words. The server of an MCP tool (`mcp__<server>__<tool>`, `<server>__<tool>`) is no
 * word of it.
 */
export function splitToolName(toolName: string): readonly string[] {
  const separator = toolName.lastIndexOf('__');
  return (separator < 0 ? toolName : toolName.slice(separator + 2))
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
