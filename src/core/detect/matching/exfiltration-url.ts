/** URLs that carry data to their host, by a click or without one. */

/** Hosts that exist to collect requests, and host names that say so. */
const COLLECTOR =
  /^https?:\/\/[^/?#]*(?:webhook\.site|requestbin|request\.bin|ngrok|burpcollaborator|oastify|interact\.sh|pipedream|beeceptor|hookbin|dnslog|canarytokens|attacker|evil|exfil|malicious|hacker|steal)/i;
/** A parameter that a model should fill in: `{conversation}`, `<last message>`, `[DATA]`. */
const PLACEHOLDER =
  /(?:=|%3D)(?:\{[\w .-]{2,40}\}(?!\})|%7B[\w%. -]{2,40}%7D|<[\w .-]{2,40}>|\[[A-Z_ ]{3,40}\])/i;
/** Three words or more with blanks between them, in a parameter that is neither a search nor a file name. */
const SENTENCE =
  /(?:[?&](?!(?:q|query|search|title|subject|body|label|name|summary|keywords?)=)\w{1,20}=(?:[\w'.-]{1,30}(?:%20|\+)){2,}|\/(?:[\w'.-]{1,30}%20){2,}[\w'.-]{1,30}\/)/i;
/** Words for stolen data, in capitals as in a template, or the prefix of a key. */
const LOOT =
  /[/=](?:(?:SECRET|PASSWORD|TOKEN|API_?KEY|CANARY|CREDENTIAL|SYS)[A-Z0-9_-]*\b|sk-[a-z]|ghp_|AKIA)/;
/** A parameter named after stolen data. */
const NAMED =
  /[?&](?:leak|exfil|stolen|loot|secrets?|conversation|chat_?history|prompt|system_prompt|passwords?)=[^&\s]{3}/i;
/** A parameter with an unspecific name and base64 text in it. */
const ENCODED =
  /[?&](?:\w{1,2}|data|text|msg|message|payload|content|body|info|leak)=(?=[A-Za-z0-9+/_-]{0,40}[a-z])(?=[A-Za-z0-9+/_-]{0,40}[A-Z])[A-Za-z0-9+/_-]{18,}={0,2}(?:$|[&#])/;

/** The units of a link on its line, after the text of a link or an image. */
const LINK_UNIT = String.raw`(?:!?\[[^\]\n]{0,80}\])?[^\n)]`;
/** Signs of which every such URL has one. All but the last begin with a unit that is rare in a link. */
const SIGNS = [
  '%20',
  '[=D](?:[{<[]|%7B)',
  '[/=](?:SECRET|PASSWORD|TOKEN|API|CANARY|CREDENTIAL|SYS|sk-|ghp_|AKIA)',
  String.raw`[?&](?:\w{1,20}=[\w'.-]{1,30}\+|(?:leak|exfil|stolen|loot|secrets?|conversation|chat_?history|prompt|system_prompt|passwords?)=|(?:\w{1,2}|data|text|msg|message|payload|content|body|info|leak)=[\w+/-]{18})`,
  String.raw`://[^/?#\n)]{0,250}?(?:webhook\.site|request\.?bin|ngrok|burpcoll|oastify|interact\.sh|pipedream|beeceptor|hookbin|dnslog|canarytok|attacker|evil|exfil|malicious|hacker|steal)`,
].join('|');
const SIGN = new RegExp(`${LINK_UNIT}{0,250}?(?:${SIGNS})`, 'iy');
/** A link with parameters that continues where the search for signs ends. */
const LONG_LINK = new RegExp(`(?=${LINK_UNIT}{250})${LINK_UNIT}{0,250}?[?&]`, 'iy');

/** Returns whether a link that begins at an offset can have such a URL. Cheaper than the pattern of the link. */
export function mayCarryData(text: string, start: number): boolean {
  return isAt(SIGN, text, start) || isAt(LONG_LINK, text, start);
}

function isAt(pattern: RegExp, text: string, start: number): boolean {
  pattern.lastIndex = start;
  return pattern.test(text);
}

/** Returns whether a URL is built to carry data to its host. */
export function isExfiltrationUrl(url: string): boolean {
  return [COLLECTOR, PLACEHOLDER, SENTENCE, LOOT, NAMED, ENCODED].some((sign) => sign.test(url));
}
