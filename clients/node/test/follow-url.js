// follow-url.js URL MILLISECONDS [KEY]: follows a list, and answers lines, one by one:
//   has FROM TO   yes or no: whether it has all integers from the first to the last
//   status        which content it has, as JSON
//   kept FROM TO  the same as has, of the filter that was current at first
// For test/cli/url_node.t.
import { createInterface } from 'node:readline'
import { BloomFilter } from '../lib/index.js'

const [url, every, key] = process.argv.slice(2)
const followed = await BloomFilter.followUrl(url, { every: Number(every), ...(key === undefined ? {} : { key }), onError: () => {} })
const first = followed.current

function hasAll (filter, from, to) {
  const keys = Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i)
  return filter.containsMany(keys).every((one) => one === 1) ? 'yes' : 'no'
}

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...values] = line.split(' ')
  console.log(word === 'status'
    ? JSON.stringify(await followed.status())
    : hasAll(word === 'kept' ? first : followed.current, ...values))
}
followed.close()
