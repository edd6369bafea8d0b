// For Node.
import { absolute, asyncIo, syncIo, uptime } from './files.js'
import { useFiles } from './filter.js'
import { openPath, stampOfPath } from './open.js'

useFiles({ absolute, asyncIo, syncIo, uptime, openPath, stampOfPath })

export * from './main.js'
