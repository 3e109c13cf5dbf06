const NETWORK_PROGRAMS =
  /^(?:curl|wget|nc|ncat|netcat|socat|telnet|ssh|scp|sftp|rsync|ftp|tftp|ping|dig|nslookup|host|http|https|xh|iwr|irm|invoke-webrequest|invoke-restmethod|nmap|fetch|lynx|w3m|links|aria2c|lwp-request|httpie|openssl|mosh|whois)$/;

/** Returns whether a program's arguments name hosts without a scheme. */
export function isNetworkProgram(name: string): boolean {
  return NETWORK_PROGRAMS.test(name);
}

/** Returns the part of a word that can be a target: the value of `--name=value`, or the file in `@name`. */
export function getTargetText(word: string): string {
  return /^--?[\w-]+=(.+)$/s.exec(word)?.[1] ?? word.replace(/^@/, '');
}
