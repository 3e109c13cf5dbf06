import { findContract } from '../../core/decision/find-contract.ts';
import { getKeyMeaning } from '../../core/detect/facts/keys.ts';
import { walkContent } from '../../core/json/walk.ts';
import type { Crossing, Policy } from '../../core/types/index.ts';
import type { TokenMap } from './token-map.ts';

/** Words in names of tools that send their arguments to another machine, or run them. */
const SENDS =
  /(?:^|[^a-z])(?:bash|browse|browser|cmd|command|curl|download|email|eval|exec|execute|fetch|forward|http|https|mail|message|navigate|notify|post|powershell|publish|python|reply|request|run|send|shell|slack|sms|terminal|tweet|upload|web|webhook)(?![a-z])/;
/** Words in names of tools that change files with a text in a format of their own. */
const WRITES = /(?:^|[^a-z])(?:patch|edit|write)(?![a-z])/;
/** Keys with the address to which a call connects. */
const ADDRESS_KEY =
  /(?:^|[_-]|[a-z](?=[A-Z]))(?:ur[il]s?|href|links?|endpoint|webhook|callback|hosts?|host_?name|domain|server|origin|site|website|page)$/i;
const KEY_UNITS_MAX = 64;
const URL = /^\s*(?:[a-z][a-z\d+.-]{0,20}:)?\/\//i;

/**
 * Returns whether a tool call would send restored values out: by the name of the tool, in a command, or to an
 * address. A contract that names the tags in `accepts.tags` permits it.
 */
export function sendsTokensOut(crossing: Crossing, tokens: TokenMap, policy: Policy): boolean {
  const found = findContract(crossing, policy);
  const contract = found === 'undeclared' ? null : found;
  // Such a contract decides itself, and blocks tags that it does not name.
  if (contract !== null && contract.accepts.tags !== null && contract.enforcement === 'enforce') return false;
  const { tool, content } = crossing;
  const name = (tool ?? '').replace(/(?<=[a-z\d])[A-Z]/g, '_$&').toLowerCase();
  if (contract?.side_effects.egress === true || SENDS.test(name)) return true;
  if (content.kind === 'text') return !WRITES.test(name) || tokens.isInUrl(content.text);
  let key = '';
  let isOut = false;
  walkContent(content, policy.limits, (leaf) => {
    if (leaf.kind === 'key') key = leaf.text.slice(-KEY_UNITS_MAX);
    isOut ||= leaf.kind === 'key' ? ADDRESS_KEY.test(key) : URL.test(leaf.text) || tokens.isInUrl(leaf.text);
    isOut ||= isCommandKey(key) && tokens.listTags(leaf.text).length > 0;
  });
  return isOut;
}

function isCommandKey(key: string): boolean {
  const { is_script, is_list, is_loose } = getKeyMeaning(key);
  return (is_script && !is_loose) || is_list;
}
