// What the tests share: files of the vectors, folders, servers.
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { hashOf } from '../lib/instance.js'

/** The filter or file of a row of the vectors. */
export function vector (name, from = 'filters.tsv') {
  const [first, ...lines] = fs.readFileSync(new URL(`../../../test/vectors/${from}`, import.meta.url), 'utf8').split('\n')
  const fields = lines.find((line) => line.startsWith(`${name}\t`)).split('\t')
  return Buffer.from(fields[first.split('\t').findIndex((column) => /^fil(ter|e)_hex$/.test(column))], 'hex')
}

/** A filter of integers, which has these and others. */
export const sound = () => vector('integer')
export const members = [0, 1, -1, 42, 32767, -32768, 2 ** 31]

/** A header with other numbers and its checksum right again. */
export function reshaped (log2, blocks) {
  const header = sound().subarray(0, 64)
  header[6] = log2
  header.writeUInt32LE(blocks, 8)
  header.writeUInt32LE(Number(hashOf(header.subarray(0, 52)) & 0xffffffffn), 52)
  return header
}

export function replace (file, bytes) {
  fs.writeFileSync(`${file}.next`, bytes)
  fs.renameSync(`${file}.next`, file)
}

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'bloomfilter-'))
process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))
let folders = 0

export function tempFolder () {
  const folder = path.join(root, String(folders++))
  fs.mkdirSync(folder)
  return folder
}

export function tempFile (bytes) {
  const file = path.join(tempFolder(), 'x.bloom')
  fs.writeFileSync(file, bytes)
  return file
}

/** The address of a server that answers so until the test ends. */
export async function listen (t, answer) {
  const server = http.createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}/x.bloom`
}
