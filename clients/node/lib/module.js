// The WebAssembly module, compiled once, at the first use; each instance then takes a fraction of
// a millisecond. Its bytes are in this package, so that no file of it must be found.
import wasm from '../build/wasm.js'

let compiled

function bytes () {
  return Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0))
}

export function moduleNow () {
  compiled ??= new WebAssembly.Module(bytes())
  return compiled
}

/** Without holding a browser's page up. */
export async function moduleLater () {
  compiled ??= await WebAssembly.compile(bytes())
  return compiled
}
