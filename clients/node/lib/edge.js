// In the place of module.js on Cloudflare's workerd and Vercel's edge, where nothing may be compiled at
// run time: their bundlers take the file along, and the import is the module.
import compiled from '../build/bloomfilter.wasm?module'

export const moduleNow = () => compiled
export const moduleLater = async () => compiled
