import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';

const READ_BYTES_MAX = 256 * 1024 * 1024;

/** Reads a whole stream. The limit only bounds memory; the policy has its own limits on content. */
export async function readBounded(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > READ_BYTES_MAX) {
      throw new CommandFailure(
        EXIT.usage,
        'too_large',
        `The input is over ${READ_BYTES_MAX} bytes. Scan it in parts.`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
