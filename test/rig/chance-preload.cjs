/**
 * Loaded with `node --require` into the CLI under test: the nonces that it draws are `CHANCE_NONCE`, so that a test can
 * count what chance decides. All other random bytes stay random.
 */
'use strict'
const NONCE_BYTES = 16
const real = crypto.getRandomValues.bind(crypto)

crypto.getRandomValues = (array) =>
  array.byteLength === NONCE_BYTES ? array.fill(Number(process.env.CHANCE_NONCE)) : real(array)
