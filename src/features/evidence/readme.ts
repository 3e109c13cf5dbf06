/** `README.txt` of every pack. */
export const PACK_README = `Evidence pack of customshouse
==============================

Verify it with Node 20 or later. Nothing else is needed:

    tar xzf PACK.tar.gz verify.mjs
    node verify.mjs PACK.tar.gz

or, after extracting everything, in its folder:

    node verify.mjs

Compare the fingerprint of the key with one that you received on another way, or name that key:

    node verify.mjs PACK.tar.gz --public-key KEY.json

A verifier that comes with a pack was made by who made the pack. The same file is in the npm package
customshouse (data/evidence/verify.mjs); its command is: customshouse audit verify PACK.tar.gz

Files
-----

manifest.json            the window, the chains, and the SHA-256 of every other file
manifest.sig             the signature of the audit key over manifest.json (Ed25519, base64)
keys/ID.json             public keys
journal/WRITER.jsonl     the lines of the audit log, exactly as it has them. In a pack of one tenant, the
                         records of other tenants have their hashes only
journal/WRITER.retired.json   the signed record of older files that were deleted by age
policies/HASH.json       the policies by which the events were decided
report/report.json       the compliance report, also as report/report.html
verify.mjs               the verifier

The events as JSON lines, with jq:

    jq -c 'select(.event).event' journal/*.jsonl
`;
