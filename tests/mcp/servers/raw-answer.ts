/** Returns the text of the answer to a request. */
export function answerTo(
  texts: Readonly<Record<string, string>>,
  id: number | string,
  method: string,
  line: string,
): string {
  const result = texts[method];
  if (result === undefined)
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"Method not found"}}`;
  const params = JSON.stringify(line.slice(line.indexOf('"params"')));
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result.replace('"$PARAMS"', () => params)}}`;
}
