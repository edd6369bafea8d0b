// What is known about a file that `bloomfilter pull` keeps.

const FIRST_LINE = 'bloomfilter-status 1'

/** What lines "name value" tell that begin with a prefix. */
export function valuesOf (lines, prefix) {
  const values = {}
  for (const line of lines) {
    const space = line.indexOf(' ', prefix.length)
    if (line.startsWith(prefix) && space > 0) {
      values[line.slice(prefix.length, space)] = line.slice(space + 1)
    }
  }
  return values
}

const time = (text) => text === undefined || Number.isNaN(Date.parse(text)) ? undefined : new Date(text)

/** Which of the two filters it is that FILE.status tells of, if any. */
function originOf (values, notes, checksum) {
  if (notes?.serial !== undefined) {
    return notes
  }
  // Before a new filter takes the file's name, what comes is noted under "next_".
  const next = valuesOf(Object.entries(values).map(([name, value]) => `${name} ${value}`), 'next_')
  if (next.checksum === checksum) {
    return next
  }
  return values.checksum === checksum ? values : {}
}

const moment = (microseconds) => microseconds === 0n ? undefined : new Date(Number(microseconds / 1000n))

/** What a working copy told when it was copied last. */
function ofWorking ({ serial, identity, trueAt, looked, failures }) {
  const known = { identity, serial: String(serial), trueAt: moment(trueAt) }
  return looked === 0n ? known : { ...known, looked: moment(looked), failures: Number(failures) }
}

/**
 * Of the filter with this checksum, or of a working copy: text is that of FILE.status, if there is one, notes
 * are those of its manifest, if it has one. What isn't known is undefined.
 */
export function statusOf (text, notes, of) {
  const lines = (text ?? '').split('\n')
  const values = lines[0] === FIRST_LINE ? valuesOf(lines.slice(1), '') : {}
  const { list, identity, serial, built } = typeof of === 'string' ? originOf(values, notes, of) : values
  return {
    list,
    identity,
    serial,
    built: time(built),
    looked: time(values.looked),
    changed: time(values.changed),
    failures: Number(values.failures ?? 0),
    failed: time(values.failed),
    error: values.error,
    refused: values.refused,
    server: values.server,
    ...typeof of === 'string' ? {} : ofWorking(of)
  }
}
